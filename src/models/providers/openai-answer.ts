import type { FinishReason, Usage } from "../../protocol/agents/models.ts";
import type { AnswerWriter } from "../transport/answer-writer.ts";
import { StreamCutOff, NotTheProtocol, ProviderError, objectOf } from "../transport/wire.ts";
import type { AnswerReader } from "../transport/wire.ts";

/** What may stand in a chunk or a message; every value is checked where it is used. */
type OpenAiDelta = {
  content?: unknown;
  refusal?: unknown;
  reasoning_content?: unknown;
  reasoning?: unknown;
  tool_calls?: unknown;
  function_call?: CallDelta["function"];
};
type OpenAiChoice = {
  delta?: OpenAiDelta | null;
  message?: OpenAiDelta | null;
  finish_reason?: unknown;
  /** Which stop text ended the answer, as vLLM and SGLang tell it; OpenAI and llama.cpp do not. */
  stop_reason?: unknown;
  matched_stop?: unknown;
};
type CallDelta = { index?: unknown; id?: unknown; function?: { name?: unknown; arguments?: unknown } | null };
type OpenAiPayload = { error?: unknown; usage?: unknown; choices?: readonly (OpenAiChoice | null)[] };
type StreamedCall = { readonly id: unknown; ours: number | undefined; held: string };

/** Reads an answer of chat completions, streamed or whole. */
export class OpenAiReader implements AnswerReader {
  readonly #answer: AnswerWriter;
  readonly #calls = new Map<unknown, StreamedCall>();
  #lastCall: unknown;
  #finish: FinishReason | undefined;
  #stoppedBy: unknown;
  #refused = false;
  #hasText = false;
  #usage: Usage | undefined;

  constructor(answer: AnswerWriter) {
    this.#answer = answer;
  }

  get complete(): boolean {
    return this.#finish !== undefined;
  }

  event(payload: unknown): void {
    if (payload === "[DONE]") {
      // Some servers never say why they end; the mark says that they have.
      if (this.#hasBegun) this.#finish ??= "stop";
      return this.end();
    }
    const { error, usage, choices } = objectOf(payload) as OpenAiPayload;
    if (error) throw new ProviderError(error);
    if (usage) this.#usage = usageOf(usage) ?? this.#usage;
    const choice = choices?.[0];
    if (!choice) return;
    if (choice.delta) this.#delta(choice.delta);
    if (choice.finish_reason) this.#ends(choice);
  }

  #ends({ finish_reason, stop_reason, matched_stop }: OpenAiChoice): void {
    this.#finish = finishReasons.get(finish_reason) ?? "other";
    this.#stoppedBy = stop_reason ?? matched_stop;
  }

  get #hasBegun(): boolean {
    return this.#hasText || this.#calls.size > 0;
  }

  whole(body: unknown): void {
    const { error, usage, choices } = objectOf(body) as OpenAiPayload;
    if (error) throw new ProviderError(error);
    const choice = choices?.[0];
    if (!choice?.message) throw new NotTheProtocol("an answer without choices");
    this.#usage = usageOf(usage);
    this.#delta(choice.message);
    this.#ends(choice);
    this.end();
  }

  end(): void {
    if (this.#finish === undefined) throw new StreamCutOff();
    for (const call of this.#calls.values()) {
      if (call.ours === undefined) throw new NotTheProtocol("a tool call without a name");
    }
    this.#answer.finish(this.#refused ? "filter" : this.#finish, this.#usage, { stoppedBy: this.#stoppedBy });
  }

  #delta(delta: OpenAiDelta): void {
    if (delta.content) {
      this.#hasText = true;
      this.#answer.text(textOfContent(delta.content));
    }
    const reasoning = delta.reasoning_content ?? delta.reasoning;
    if (typeof reasoning === "string") this.#answer.reasoning(reasoning);
    if (typeof delta.refusal === "string" && delta.refusal !== "") {
      this.#refused = true;
      this.#answer.text(delta.refusal);
    }
    if (Array.isArray(delta.tool_calls)) {
      for (const [position, call] of delta.tool_calls.entries()) this.#callDelta(objectOf(call) as CallDelta, position);
    }
    // The field from before there were several.
    if (delta.function_call) this.#callDelta({ index: "only", function: delta.function_call }, 0);
  }

  #callDelta(delta: CallDelta, position: number): void {
    const name = typeof delta.function?.name === "string" ? delta.function.name : "";
    const key = this.#keyOf(delta, name, position);
    let call = this.#calls.get(key);
    if (!call) this.#calls.set(key, (call = { id: delta.id, ours: undefined, held: "" }));
    this.#lastCall = key;
    const args = delta.function?.arguments;
    call.held += typeof args === "string" ? args : args ? JSON.stringify(args) : "";
    if (call.ours === undefined && name !== "") call.ours = this.#answer.startCall(name, call.id);
    if (call.ours !== undefined) {
      this.#answer.callArguments(call.ours, call.held);
      call.held = "";
    }
  }

  /** Calls are told apart by index. Some servers leave it out, or give every call 0 and tell them apart by id. */
  #keyOf(delta: CallDelta, name: string, position: number): unknown {
    const index = delta.index ?? (name !== "" ? `whole-${this.#calls.size}` : (this.#lastCall ?? position));
    const known = this.#calls.get(index);
    const isOther = known && delta.id && known.id && delta.id !== known.id && name !== "";
    if (isOther) return `${String(index)}/${String(delta.id)}`;
    // Pieces without an id belong to the call that was opened last under this index.
    const last = this.#lastCall;
    return !delta.id && typeof last === "string" && last.startsWith(`${String(index)}/`) ? last : index;
  }
}

function textOfContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: unknown } | null) => (typeof part?.text === "string" ? part.text : "")).join("");
}

const finishReasons = new Map<unknown, FinishReason>([
  ["stop", "stop"],
  ["length", "length"],
  ["tool_calls", "calls"],
  ["function_call", "calls"],
  ["content_filter", "filter"],
]);

type OpenAiUsage = {
  prompt_tokens?: unknown;
  completion_tokens?: unknown;
  prompt_tokens_details?: { cached_tokens?: unknown } | null;
  completion_tokens_details?: { reasoning_tokens?: unknown } | null;
};

function usageOf(usage: unknown): Usage | undefined {
  if (typeof usage !== "object" || usage === null) return undefined;
  const { prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details } = usage as OpenAiUsage;
  if (typeof prompt_tokens !== "number" || typeof completion_tokens !== "number") return undefined;
  const cached = prompt_tokens_details?.cached_tokens;
  const reasoning = completion_tokens_details?.reasoning_tokens;
  return {
    inputTokens: prompt_tokens,
    outputTokens: completion_tokens,
    ...(typeof cached === "number" && { cachedTokens: cached }),
    ...(typeof reasoning === "number" && { reasoningTokens: reasoning }),
  };
}
