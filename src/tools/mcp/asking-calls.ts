import { createHash } from "node:crypto";
import { z } from "zod";
import { newId } from "../../protocol/ids.ts";
import type { ToolAnswer, ToolQuestion } from "../../protocol/tools.ts";
import { formSchema, longestText } from "./elicitation.ts";
import { timeOut } from "./failures.ts";

/** What a server hears of a person. */
export type Heard = { action: "accept"; content: z.infer<typeof contentSchema> } | { action: "decline" | "cancel" };
type Asked = { readonly text: string; readonly schema: z.infer<typeof formSchema>["requestedSchema"] };

const contentSchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));
/** `call`: of which it is a question; `asked`: which one; `key`: the idempotency key that the call was made with. */
const stateSchema = z.object({ call: z.string(), asked: z.string(), key: z.string() });
const mostHeld = 100;
/** How long the outcome of a call is kept that went on without an answer. */
const keptMs = 60 * 60_000;

/** The call whose question a person has answered; undefined: the last answer is to another kind of question. */
export function askingCallOf(answers: readonly ToolAnswer[]): z.infer<typeof stateSchema> | undefined {
  return stateSchema.safeParse(answers.at(-1)?.state).data;
}

export function heardOf({ decision, data }: ToolAnswer): Heard {
  const content = contentSchema.safeParse(data ?? {});
  return decision === "answer" && content.success ? { action: "accept", content: content.data } : { action: "decline" };
}

export type AskingOptions = {
  readonly key: string;
  /** What people answered when the same call was made before. */
  readonly answers: readonly ToolAnswer[];
  /** For the call without the time in which a person is waited for. */
  readonly timeoutMs: number;
  /** After this long the server hears that nobody answers. */
  readonly patienceMs: number;
};

/** One call of the older protocol, in the middle of which its server may ask a person. */
export class AskingCall<Outcome> {
  /** The server went on before a person answered. */
  wentOn = false;
  private readonly options: AskingOptions;
  private readonly stop = new AbortController();
  private readonly outcome: Promise<Outcome>;
  private question = Promise.withResolvers<ToolQuestion>();
  private heard: ((heard: Heard) => void) | undefined;
  private timer: NodeJS.Timeout;
  private ownId: string | undefined;

  constructor(options: AskingOptions, make: (call: AskingCall<Outcome>) => Promise<Outcome>) {
    this.options = options;
    this.timer = this.timerOfCall();
    this.outcome = make(this).finally(() => {
      clearTimeout(this.timer);
      if (this.heard) this.wentOn = true;
    });
    this.outcome.catch(() => {});
  }

  /** Made when it is needed: most calls ask nothing. */
  get id(): string {
    return (this.ownId ??= newId());
  }

  /** Ends the call. */
  get signal(): AbortSignal {
    return this.stop.signal;
  }

  get isAsking(): boolean {
    return this.heard !== undefined;
  }

  /** The outcome, or what the server wants to know before. */
  async next(signal: AbortSignal): Promise<Outcome | ToolQuestion> {
    const abort = () => this.stop.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await Promise.race([this.outcome, this.question.promise]);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** For the server: resolves when a person has answered, or nobody does. */
  ask({ text, schema }: Asked): Promise<Heard> {
    const { answers, key, patienceMs } = this.options;
    const asked = createHash("sha256")
      .update(JSON.stringify([text, schema]))
      .digest("base64url");
    const known = answers.find(({ state }) => stateSchema.safeParse(state).data?.asked === asked);
    if (known) return Promise.resolve(heardOf(known));
    const { promise, resolve } = Promise.withResolvers<Heard>();
    this.heard = resolve;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.wentOn = true;
      this.answer({ action: "cancel" });
    }, patienceMs);
    this.timer.unref();
    this.question.resolve({ text: text.slice(0, longestText), schema, state: { call: this.id, asked, key } });
    return promise;
  }

  /** Nobody wants its outcome any more. */
  cancel(reason: Error): void {
    this.stop.abort(reason);
  }

  answer(heard: Heard): void {
    if (!this.heard) return;
    clearTimeout(this.timer);
    this.timer = this.timerOfCall();
    this.question = Promise.withResolvers();
    const resolve = this.heard;
    this.heard = undefined;
    resolve(heard);
  }

  private timerOfCall(): NodeJS.Timeout {
    return setTimeout(() => this.stop.abort(timeOut()), this.options.timeoutMs);
  }
}

/** Calls that are open at one server. Which of them a question belongs to, the older protocol does not say. */
export class OpenCalls<Outcome> {
  private readonly calls = new Set<AskingCall<Outcome>>();

  begin(options: AskingOptions, make: (call: AskingCall<Outcome>) => Promise<Outcome>): AskingCall<Outcome> {
    const call: AskingCall<Outcome> = new AskingCall(options, (own) =>
      make(own).finally(() => void this.calls.delete(call)),
    );
    this.calls.add(call);
    return call;
  }

  /** Asks whoever's call it is. Throws if that can't be told. */
  ask(params: unknown): Promise<Heard> {
    const form = formSchema.safeParse(params);
    if (!form.success) throw new Error("Only forms can be put to a person here.");
    const [call, other] = [...this.calls].filter(({ isAsking }) => !isAsking);
    if (!call) throw new Error("No call is open that could ask.");
    if (other) throw new Error("Several calls are open; it can't be told which of them asks, so nobody is asked.");
    return call.ask({ text: form.data.message, schema: form.data.requestedSchema });
  }
}

/** Calls that wait for a person, the newest of them. */
export class HeldCalls<Outcome> {
  private readonly calls = new Map<string, { readonly call: AskingCall<Outcome>; readonly runId: string }>();

  keep(call: AskingCall<Outcome>, runId: string): void {
    this.calls.set(call.id, { call, runId });
    if (this.calls.size > mostHeld) this.calls.delete(this.calls.keys().next().value!);
    setTimeout(() => this.calls.delete(call.id), keptMs).unref();
  }

  /** Undefined: it is over, or another process made it. */
  take(id: string): AskingCall<Outcome> | undefined {
    const kept = this.calls.get(id);
    this.calls.delete(id);
    return kept?.call;
  }

  /** The run was stopped, or its wait is over: the server is told, and need not wait for an answer. */
  runEnded(runId: string): void {
    for (const [id, kept] of this.calls) {
      if (kept.runId !== runId) continue;
      this.calls.delete(id);
      kept.call.cancel(new Error("The run has ended."));
    }
  }
}
