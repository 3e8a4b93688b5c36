import type { AuthProvider, JSONRPCRequest, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { responseOf } from "../../egress/answer-response.ts";
import type { EgressResponse } from "../../egress/exchange.ts";
import type { FetchInit, GuardedFetch, GuardedPost } from "../../egress/guarded-fetch.ts";
import { readResult } from "./first-result.ts";

export type DirectCallsOptions = {
  readonly url: URL;
  readonly post: GuardedPost;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth: AuthProvider | undefined;
};

type McpTransportState = {
  readonly transport: Pick<StreamableHTTPClientTransport, "sessionId" | "protocolVersion">;
  /** Of the newer protocol, where a request says in its headers what it is. */
  readonly isModern: boolean;
};

/** Whose request it is; hears how to break it off. */
type PendingRequest = { readonly isDone: boolean; stop: ((reason: unknown) => void) | undefined };

/** What may stand in a header as it is. */
const plainName = /^[!-~]+$/;
const encodedName = /^=\?/;

/**
 * Calls over HTTP past the client's transport. It is handed every answer but a plain result: failures, logins, streams that
 * bring more, or break off.
 */
export class DirectCalls {
  private readonly options: DirectCallsOptions;
  private readonly handed = new Map<
    string,
    { readonly answer: EgressResponse; readonly stop: (reason: unknown) => void }
  >();
  private headers: Readonly<Record<string, string>> = {};
  private isModern = false;

  constructor(options: DirectCallsOptions) {
    this.options = options;
  }

  /** What goes along with every request is known from now on. */
  connected({ transport, isModern }: McpTransportState): void {
    this.isModern = isModern;
    const { sessionId, protocolVersion } = transport;
    // As the transport makes them.
    const headers = new Headers(this.options.headers);
    if (sessionId !== undefined) headers.set("mcp-session-id", sessionId);
    if (protocolVersion !== undefined) headers.set("mcp-protocol-version", protocolVersion);
    headers.set("content-type", "application/json");
    const accepted = [headers.get("accept"), "application/json", "text/event-stream"];
    headers.set("accept", accepted.filter((type) => type !== null).join(", "));
    this.headers = Object.fromEntries(headers);
  }

  takes({ params }: JSONRPCRequest): boolean {
    const name = String(params?.["name"]);
    return !this.isModern || (plainName.test(name) && !encodedName.test(name));
  }

  /** The result; undefined: what came instead waits for the transport, or the call has ended. */
  async ask(message: JSONRPCRequest, call: PendingRequest): Promise<object | undefined> {
    const { url, post, auth } = this.options;
    const token = auth ? await auth.token() : undefined;
    if (call.isDone) return undefined;
    const body = JSON.stringify(message);
    const sent = post(url, { headers: this.headersOf(message, token), body });
    const stop = (reason: unknown): void => sent.stop(reason);
    call.stop = stop;
    const read = await readResult(await sent.answer, message.id as number);
    if ("result" in read) return read.result.result;
    this.handed.set(body, { answer: read.other, stop });
    return undefined;
  }

  /** For the transport: gives it what came for its request already. */
  handing(fetch: GuardedFetch["fetch"]): GuardedFetch["fetch"] {
    return async (url: string | URL, init: FetchInit = {}) => {
      const body = typeof init.body === "string" ? init.body : "";
      const kept = this.handed.get(body);
      if (!kept) return fetch(url, init);
      this.handed.delete(body);
      const { signal } = init;
      if (signal?.aborted) kept.stop(signal.reason);
      else signal?.addEventListener("abort", () => kept.stop(signal.reason), { once: true });
      return responseOf(kept.answer);
    };
  }

  /** Breaks off what the transport did not take, and returns its status; undefined: nothing waits for it. */
  forget(message: JSONRPCRequest): number | undefined {
    if (this.handed.size === 0) return undefined;
    const body = JSON.stringify(message);
    const kept = this.handed.get(body);
    this.handed.delete(body);
    kept?.stop(new Error("nobody reads the answer"));
    return kept?.answer.status;
  }

  private headersOf({ method, params }: JSONRPCRequest, token: string | undefined): Readonly<Record<string, string>> {
    if (token === undefined && !this.isModern) return this.headers;
    return {
      ...this.headers,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(this.isModern && { "mcp-method": method, "mcp-name": String(params?.["name"]) }),
    };
  }
}
