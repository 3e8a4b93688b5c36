import type { McpServerState } from "../../protocol/agents/mcp-servers.ts";

/** Another node may have signed the user in. */
const maxSignInRestMs = 30_000;

/** How a connection stands, and when it may be tried again: after each failure in a row it rests longer. */
export class ConnectionPhase {
  private readonly backoffMs: readonly [first: number, most: number];
  private state: McpServerState["state"] = "idle";
  private since = new Date().toISOString();
  private reasonText: string | undefined;
  private failures = 0;
  private nextTryAt = 0;

  constructor(backoffMs: readonly [first: number, most: number] = [1000, 5 * 60_000]) {
    this.backoffMs = backoffMs;
  }

  enter(state: McpServerState["state"], reason?: string): void {
    this.state = state;
    this.since = new Date().toISOString();
    this.reasonText = reason;
  }

  /** Not tried again for a while. */
  rest(state: "failed" | "sign-in needed", reason: string): void {
    const [first, most] = this.backoffMs;
    const longest = state === "failed" ? most : Math.min(most, maxSignInRestMs);
    const isFirst = this.failures === 0 && this.state === "ready";
    const restMs = isFirst ? 0 : Math.min(first * 2 ** this.failures, longest);
    this.failures++;
    this.nextTryAt = performance.now() + restMs * (0.75 + Math.random() / 2);
    this.enter(state, reason);
  }

  /** One answer broke off, which says little of the server: it is tried again at once, and nothing is counted. */
  broke(reason: string): void {
    this.nextTryAt = 0;
    this.enter("failed", reason);
  }

  /** What ends it now does not count with earlier failures. */
  wasGood(): void {
    this.failures = 0;
  }

  is(state: McpServerState["state"]): boolean {
    return this.state === state;
  }

  get isResting(): boolean {
    return (this.is("failed") || this.is("sign-in needed")) && performance.now() < this.nextTryAt;
  }

  /** Why it failed last, also while it is tried again. */
  get reason(): string | undefined {
    return this.reasonText;
  }

  get restMs(): number {
    return Math.max(0, this.nextTryAt - performance.now());
  }

  get nextTry(): string {
    return new Date(Date.now() + this.restMs).toISOString();
  }

  /** For people. */
  shown(): Pick<McpServerState, "state" | "since" | "reason" | "nextTry"> {
    const { state, since, reasonText } = this;
    return {
      state,
      since,
      ...(reasonText === undefined ? {} : { reason: reasonText }),
      ...(state === "failed" ? { nextTry: this.nextTry } : {}),
    };
  }
}
