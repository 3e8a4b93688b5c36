import { createHash } from "node:crypto";
import { z } from "zod";
import { newId } from "../../protocol/base/ids.ts";
import type { ToolAnswer, ToolQuestion } from "../../protocol/agents/tools.ts";
import { formSchema, longestText } from "./elicitation.ts";
import type { ToolCall } from "./tool-calls.ts";

/** What a server hears of a person. */
export type ElicitationAnswer =
  | { action: "accept"; content: z.infer<typeof contentSchema> }
  | { action: "decline" | "cancel" };
type ElicitationForm = { readonly text: string; readonly schema: z.infer<typeof formSchema>["requestedSchema"] };

const contentSchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));
/** `call`: of which it is a question; `asked`: which one; `key`: the idempotency key that the call was made with. */
const stateSchema = z.object({ call: z.string(), asked: z.string(), key: z.string() });
const maxHeld = 100;
/** How long the outcome of a call is kept that went on without an answer. */
const keptMs = 60 * 60_000;

/** The call whose question a person has answered; undefined: the last answer is to another kind of question. */
export function askingCallOf(answers: readonly ToolAnswer[]): z.infer<typeof stateSchema> | undefined {
  return answers.length === 0 ? undefined : stateSchema.safeParse(answers.at(-1)?.state).data;
}

export function elicitationAnswerOf({ decision, data }: ToolAnswer): ElicitationAnswer {
  const content = contentSchema.safeParse(data ?? {});
  return decision === "answer" && content.success ? { action: "accept", content: content.data } : { action: "decline" };
}

export type AskingOptions = {
  readonly key: string;
  /** What people answered when the same call was made before. */
  readonly answers: readonly ToolAnswer[];
  /** After this long the server hears that nobody answers. */
  readonly patienceMs: number;
};

/** What was asked of the server, and what became of it. */
export type ServerRequest<Outcome> = {
  readonly call: Pick<ToolCall, "cancel" | "hold" | "goOn">;
  readonly outcome: Promise<Outcome>;
};

/** One call, in the middle of which a server of the older protocol may ask a person. */
export class AskingCall<Outcome> {
  /** The server went on before a person answered. */
  wentOn = false;
  private readonly options: AskingOptions;
  private readonly begun: ServerRequest<Outcome>;
  private question: ToolQuestion | undefined;
  private tell: ((question: ToolQuestion) => void) | undefined;
  private heard: ((heard: ElicitationAnswer) => void) | undefined;
  private patience: NodeJS.Timeout | undefined;
  private ownId: string | undefined;

  constructor(options: AskingOptions, begun: ServerRequest<Outcome>) {
    this.options = options;
    this.begun = begun;
  }

  /** Made when it is needed: most calls ask nothing. */
  get id(): string {
    return (this.ownId ??= newId());
  }

  get outcome(): Promise<Outcome> {
    return this.begun.outcome;
  }

  get isAsking(): boolean {
    return this.heard !== undefined;
  }

  /** The outcome, or what the server wants to know before. */
  next(signal: AbortSignal): Promise<Outcome | ToolQuestion> {
    const abort = () => this.begun.call.cancel(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    return new Promise((resolve, reject) => {
      const done = () => signal.removeEventListener("abort", abort);
      this.tell = (question) => {
        done();
        resolve(question);
      };
      this.begun.outcome.then(
        (outcome) => {
          done();
          resolve(outcome);
        },
        (error: Error) => {
          done();
          reject(error);
        },
      );
      if (this.question) this.tell(this.question);
    });
  }

  /** For the server: resolves when a person has answered, or nobody does. */
  ask({ text, schema }: ElicitationForm): Promise<ElicitationAnswer> {
    const { answers, key, patienceMs } = this.options;
    const asked = createHash("sha256")
      .update(JSON.stringify([text, schema]))
      .digest("base64url");
    const known = answers.find(({ state }) => stateSchema.safeParse(state).data?.asked === asked);
    if (known) return Promise.resolve(elicitationAnswerOf(known));
    const { promise, resolve } = Promise.withResolvers<ElicitationAnswer>();
    this.heard = resolve;
    this.begun.call.hold();
    this.patience = setTimeout(() => {
      this.wentOn = true;
      this.answer({ action: "cancel" });
    }, patienceMs);
    this.patience.unref();
    this.question = { text: text.slice(0, longestText), schema, state: { call: this.id, asked, key } };
    this.tell?.(this.question);
    return promise;
  }

  /** Nobody wants its outcome any more. */
  cancel(reason: Error): void {
    this.begun.call.cancel(reason);
  }

  answer(heard: ElicitationAnswer): void {
    if (!this.heard) return;
    clearTimeout(this.patience);
    this.begun.call.goOn();
    this.question = undefined;
    this.tell = undefined;
    const resolve = this.heard;
    this.heard = undefined;
    resolve(heard);
  }

  /** It has its outcome. */
  ended(): void {
    clearTimeout(this.patience);
    if (this.heard) this.wentOn = true;
  }
}

/** Calls that are open at one server. Which of them a question belongs to, the older protocol does not say. */
export class OpenCalls<Outcome> {
  private readonly calls = new Set<AskingCall<Outcome>>();

  add(options: AskingOptions, begun: ServerRequest<Outcome>): AskingCall<Outcome> {
    const call = new AskingCall(options, begun);
    this.calls.add(call);
    const ended = () => {
      this.calls.delete(call);
      call.ended();
    };
    begun.outcome.then(ended, ended);
    return call;
  }

  /** Resolves when none that is open now is open any more. */
  async ended(): Promise<void> {
    await Promise.allSettled(Array.from(this.calls, ({ outcome }) => outcome));
  }

  /** Asks whoever's call it is. Throws if that can't be told. */
  ask(params: unknown): Promise<ElicitationAnswer> {
    const form = formSchema.safeParse(params);
    if (!form.success) throw new Error("Only forms can be put to a person here.");
    const [call, other] = [...this.calls].filter(({ isAsking }) => !isAsking);
    if (!call) throw new Error("No call is open that could ask.");
    if (other) throw new Error("Several calls are open and it is unclear which one asks, so nobody is asked.");
    return call.ask({ text: form.data.message, schema: form.data.requestedSchema });
  }
}

/** Calls that wait for a person, the newest of them. */
export class HeldCalls<Outcome> {
  private readonly calls = new Map<string, { readonly call: AskingCall<Outcome>; readonly runId: string }>();

  keep(call: AskingCall<Outcome>, runId: string): void {
    this.calls.set(call.id, { call, runId });
    if (this.calls.size > maxHeld) this.calls.delete(this.calls.keys().next().value!);
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
