import type { FinishReason, Usage } from "../../protocol/agents/models.ts";
import type { AnswerWriter } from "../transport/answer-writer.ts";
import { argumentsObject } from "./request-values.ts";
import { StreamCutOff, NotTheProtocol, ProviderError, objectOf } from "../transport/wire.ts";
import type { AnswerReader } from "../transport/wire.ts";

/** Blocks of thinking with their signatures: the provider wants them back before the calls they led to. */
type AnthropicThinking = { readonly provider: "anthropic"; readonly blocks: readonly object[] };

/** The thinking blocks in an assistant message's `opaque`, if it comes from this provider. */
export function thinkingOf(opaque: unknown): readonly object[] {
  const { provider, blocks } = (opaque ?? {}) as Partial<AnthropicThinking>;
  return provider === "anthropic" && Array.isArray(blocks) ? blocks : [];
}

type AnthropicBlock = { type?: unknown; id?: unknown; name?: unknown; text?: unknown; thinking?: unknown };
type AnthropicDelta = {
  type?: unknown;
  text?: unknown;
  partial_json?: unknown;
  thinking?: unknown;
  signature?: unknown;
  citation?: unknown;
  stop_reason?: unknown;
  stop_sequence?: unknown;
};
type AnthropicUsage = {
  input_tokens?: unknown;
  output_tokens?: unknown;
  cache_read_input_tokens?: unknown;
  cache_creation_input_tokens?: unknown;
};
type AnthropicPayload = {
  type?: unknown;
  index?: unknown;
  error?: unknown;
  message?: { usage?: AnthropicUsage | null } | null;
  content_block?: AnthropicBlock | null;
  delta?: AnthropicDelta | null;
  usage?: AnthropicUsage | null;
  content?: unknown;
  stop_reason?: unknown;
  stop_sequence?: unknown;
};

type OpenBlock = {
  /** As the provider wants it back. */
  readonly whole: Record<string, unknown>;
  /** What came of its input, as JSON text. */
  input: string;
  /** Of a call: takes the text of its input. */
  readonly take?: (text: string) => void;
};

/** A provider that pauses more often than this comes to no end. */
const maxPauses = 10;

/**
 * Reads an answer of the Messages API, over its pauses too. `formatTool`: a call of this tool is the answer's text.
 */
export class AnthropicReader implements AnswerReader {
  readonly #answer: AnswerWriter;
  readonly #formatTool: string | undefined;
  readonly #open = new Map<unknown, OpenBlock>();
  /** All blocks that are closed, in their order. */
  readonly #content: object[] = [];
  /** Of the requests before a pause, and of this one. */
  readonly #usages: (Usage | undefined)[] = [];
  #usage: AnthropicUsage = {};
  #reason: unknown;
  #stoppedBy: unknown;
  #calls = 0;
  #forCaller = 0;
  paused = false;

  constructor(answer: AnswerWriter, formatTool: string | undefined) {
    this.#answer = answer;
    this.#formatTool = formatTool;
  }

  /** `message_delta` has told the reason, but only `message_stop` says that nothing was lost: a cut stream is cut. */
  get complete(): boolean {
    return false;
  }

  event(payload: unknown): void {
    const event = objectOf(payload) as AnthropicPayload;
    switch (event.type) {
      case "message_start":
        this.#count(event.message?.usage);
        return;
      case "content_block_start":
        this.#open.set(event.index, this.#openBlock(event.content_block ?? {}));
        return;
      case "content_block_delta":
        return this.#delta(this.#open.get(event.index), event.delta ?? {});
      case "content_block_stop":
        return this.#closeBlock(event.index);
      case "message_delta":
        this.#count(event.usage);
        if (event.delta?.stop_reason) this.#reason = event.delta.stop_reason;
        this.#stoppedBy = event.delta?.stop_sequence ?? undefined;
        return;
      case "message_stop":
        return this.#finish();
      case "error":
        throw new ProviderError(event.error);
      default: // `ping`, and what later versions add
        if (event.error) throw new ProviderError(event.error);
    }
  }

  whole(body: unknown): void {
    const { type, error, content, usage, stop_reason, stop_sequence } = objectOf(body) as AnthropicPayload;
    if (type === "error" || error) throw new ProviderError(error);
    if (!Array.isArray(content)) throw new NotTheProtocol("a message without content");
    for (const [index, block] of (content as (AnthropicBlock | null)[]).entries()) {
      this.#open.set(index, this.#openBlock(block ?? {}));
      this.#closeBlock(index);
    }
    this.#count(usage);
    this.#reason = stop_reason ?? "other";
    this.#stoppedBy = stop_sequence;
    this.#finish();
  }

  /** The provider goes on where it was as soon as it has got back what it said. */
  goOn(body: object): object {
    this.paused = false;
    this.#reason = undefined;
    const { messages } = body as { readonly messages: readonly AnthropicTurn[] };
    // What the answer before this pause began with stands there already.
    const before = this.#usages.length > 1 ? messages.slice(0, -1) : messages;
    return { ...body, messages: [...before, { role: "assistant", content: [...this.#content] }] };
  }

  end(): void {
    throw new StreamCutOff();
  }

  #openBlock(block: AnthropicBlock): OpenBlock {
    const open = { whole: { ...block }, input: "" };
    if (block.type === "text") this.#answer.text(textOr(block.text));
    if (block.type === "thinking") this.#answer.reasoning(textOr(block.thinking));
    if (block.type !== "tool_use") return open;
    if (typeof block.name !== "string" || block.name === "") throw new NotTheProtocol("a tool call without a name");
    this.#calls++;
    // The call that carries the formatted answer is none.
    if (block.name === this.#formatTool) return { ...open, take: (text) => this.#answer.text(text) };
    this.#forCaller++;
    const call = this.#answer.startCall(block.name, block.id);
    return { ...open, take: (text) => this.#answer.callArguments(call, text) };
  }

  #delta(block: OpenBlock | undefined, delta: AnthropicDelta): void {
    if (!block) throw new NotTheProtocol("a delta of a block that was not started");
    const { whole } = block;
    const longer = (field: "text" | "thinking" | "signature"): string => {
      const more = textOr(delta[field]);
      whole[field] = textOr(whole[field]) + more;
      return more;
    };
    switch (delta.type) {
      case "text_delta":
        return this.#answer.text(longer("text"));
      case "thinking_delta":
        return this.#answer.reasoning(longer("thinking"));
      case "signature_delta":
        return void longer("signature");
      case "input_json_delta":
        block.input += textOr(delta.partial_json);
        return block.take?.(textOr(delta.partial_json));
      case "citations_delta":
        whole["citations"] = [...(Array.isArray(whole["citations"]) ? whole["citations"] : []), delta.citation];
        return;
      default: // what later versions add
    }
  }

  #closeBlock(index: unknown): void {
    const block = this.#open.get(index);
    this.#open.delete(index);
    if (!block) return;
    const { whole, input, take } = block;
    if (input === "") take?.(JSON.stringify(whole["input"] ?? {}));
    // The wire refuses an empty text.
    if (whole["type"] === "text" && textOr(whole["text"]) === "") return;
    this.#content.push(input === "" ? whole : { ...whole, input: argumentsObject(input) });
  }

  #count(usage: AnthropicUsage | null | undefined): void {
    this.#usage = { ...this.#usage, ...usage };
  }

  #finish(): void {
    if (this.#reason === undefined) throw new StreamCutOff();
    this.#usages.push(usageOf(this.#usage));
    this.#usage = {};
    const isPause = this.#reason === "pause_turn";
    // What the caller is asked to do can't wait for the provider's own tools.
    this.paused = isPause && this.#calls === 0 && this.#usages.length <= maxPauses && this.#content.length > 0;
    if (this.paused) return;
    const reason = isPause && this.#calls > 0 ? "calls" : (finishReasons.get(this.#reason) ?? "other");
    const thinking = this.#content.filter(isThinking);
    const opaque: AnthropicThinking | undefined =
      thinking.length > 0 ? { provider: "anthropic", blocks: thinking } : undefined;
    this.#answer.finish(reason === "calls" && this.#forCaller === 0 ? "stop" : reason, sumOf(this.#usages), {
      opaque,
      stoppedBy: this.#stoppedBy,
    });
  }
}

type AnthropicTurn = { readonly role: string; readonly content: readonly object[] };

function isThinking(block: object): boolean {
  return "type" in block && (block.type === "thinking" || block.type === "redacted_thinking");
}

function textOr(value: unknown): string {
  return typeof value === "string" ? value : "";
}

const finishReasons = new Map<unknown, FinishReason>([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "calls"],
  ["refusal", "filter"],
  // It paused once too often.
  ["pause_turn", "length"],
]);

/** Tokens read from or written to a cache count apart on this wire, and are input all the same. */
function usageOf(usage: AnthropicUsage): Usage | undefined {
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage;
  if (typeof input_tokens !== "number" || typeof output_tokens !== "number") return undefined;
  const read = typeof cache_read_input_tokens === "number" ? cache_read_input_tokens : 0;
  const written = typeof cache_creation_input_tokens === "number" ? cache_creation_input_tokens : 0;
  return {
    inputTokens: input_tokens + read + written,
    outputTokens: output_tokens,
    ...(read > 0 && { cachedTokens: read }),
  };
}

/** Of an answer that took several requests; undefined if one of them was not counted. */
function sumOf(usages: readonly (Usage | undefined)[]): Usage | undefined {
  return usages.reduce((sum, one) => {
    if (!sum || !one) return undefined;
    const cachedTokens = (sum.cachedTokens ?? 0) + (one.cachedTokens ?? 0);
    return {
      inputTokens: sum.inputTokens + one.inputTokens,
      outputTokens: sum.outputTokens + one.outputTokens,
      ...(cachedTokens > 0 && { cachedTokens }),
    };
  });
}
