import type { FinishReason, Usage } from "../protocol/models.ts";
import type { AnswerWriter } from "./answer.ts";
import { Cut, NotTheProtocol, Reported, objectOf } from "./wire.ts";
import type { AnswerReader } from "./wire.ts";

/** Blocks of thinking with their signatures: the provider wants them back before the calls they led to. */
type Opaque = { readonly provider: "anthropic"; readonly blocks: readonly object[] };

/** The thinking blocks in an assistant message's `opaque`, if it comes from this provider. */
export function thinkingOf(opaque: unknown): readonly object[] {
  const { provider, blocks } = (opaque ?? {}) as Partial<Opaque>;
  return provider === "anthropic" && Array.isArray(blocks) ? blocks : [];
}

type Block = {
  type?: unknown;
  name?: unknown;
  input?: unknown;
  text?: unknown;
  thinking?: unknown;
  signature?: unknown;
  data?: unknown;
};
type Delta = {
  type?: unknown;
  text?: unknown;
  partial_json?: unknown;
  thinking?: unknown;
  signature?: unknown;
  stop_reason?: unknown;
};
type RawUsage = {
  input_tokens?: unknown;
  output_tokens?: unknown;
  cache_read_input_tokens?: unknown;
  cache_creation_input_tokens?: unknown;
};
type Payload = {
  type?: unknown;
  index?: unknown;
  error?: unknown;
  message?: { usage?: RawUsage | null } | null;
  content_block?: Block | null;
  delta?: Delta | null;
  usage?: RawUsage | null;
  content?: unknown;
  stop_reason?: unknown;
};

type OpenBlock =
  | { readonly type: "text" | "other" }
  | { readonly type: "thinking"; thinking: string; signature: string }
  /** `call`: undefined for the tool that carries formatted output. `input`: what stood in the start, used if nothing follows. */
  | { readonly type: "call"; readonly call: number | undefined; readonly input: unknown; begun: boolean };

/** Reads an answer of the Messages API. `formatTool`: a call of this tool is the answer's text. */
export class AnthropicReader implements AnswerReader {
  readonly #answer: AnswerWriter;
  readonly #formatTool: string | undefined;
  readonly #open = new Map<unknown, OpenBlock>();
  readonly #thinking: object[] = [];
  #usage: RawUsage = {};
  #reason: FinishReason | undefined;
  #calls = 0;

  constructor(answer: AnswerWriter, formatTool: string | undefined) {
    this.#answer = answer;
    this.#formatTool = formatTool;
  }

  /** `message_delta` has told the reason, but only `message_stop` says that nothing was lost: a cut stream is cut. */
  get complete(): boolean {
    return false;
  }

  event(payload: unknown): void {
    const event = objectOf(payload) as Payload;
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
        if (event.delta?.stop_reason) this.#reason = finishReasons.get(event.delta.stop_reason) ?? "other";
        return;
      case "message_stop":
        return this.#finish();
      case "error":
        throw new Reported(event.error);
      default: // `ping`, and what later versions add
        if (event.error) throw new Reported(event.error);
    }
  }

  whole(body: unknown): void {
    const { type, error, content, usage, stop_reason } = objectOf(body) as Payload;
    if (type === "error" || error) throw new Reported(error);
    if (!Array.isArray(content)) throw new NotTheProtocol("a message without content");
    for (const [index, block] of (content as (Block | null)[]).entries()) {
      this.#open.set(index, this.#openBlock(block ?? {}));
      this.#closeBlock(index);
    }
    this.#count(usage);
    this.#reason = finishReasons.get(stop_reason) ?? "other";
    this.#finish();
  }

  end(): void {
    throw new Cut();
  }

  #openBlock(block: Block): OpenBlock {
    switch (block.type) {
      case "text":
        if (typeof block.text === "string") this.#answer.text(block.text);
        return { type: "text" };
      case "thinking":
        if (typeof block.thinking === "string") this.#answer.reasoning(block.thinking);
        return { type: "thinking", thinking: textOr(block.thinking), signature: textOr(block.signature) };
      case "redacted_thinking":
        this.#thinking.push({ type: "redacted_thinking", data: block.data });
        return { type: "other" };
      case "tool_use": {
        if (typeof block.name !== "string" || block.name === "") throw new NotTheProtocol("a tool call without a name");
        const isAnswer = block.name === this.#formatTool;
        if (!isAnswer) this.#calls++;
        return {
          type: "call",
          call: isAnswer ? undefined : this.#answer.startCall(block.name),
          input: block.input,
          begun: false,
        };
      }
      default:
        return { type: "other" };
    }
  }

  #delta(block: OpenBlock | undefined, delta: Delta): void {
    if (!block) throw new NotTheProtocol("a delta of a block that was not started");
    if (delta.type === "text_delta") this.#answer.text(textOr(delta.text));
    else if (delta.type === "input_json_delta" && block.type === "call") this.#input(block, textOr(delta.partial_json));
    else if (delta.type === "thinking_delta" && block.type === "thinking") {
      block.thinking += textOr(delta.thinking);
      this.#answer.reasoning(textOr(delta.thinking));
    } else if (delta.type === "signature_delta" && block.type === "thinking")
      block.signature += textOr(delta.signature);
  }

  #input(block: Extract<OpenBlock, { type: "call" }>, text: string): void {
    if (text === "") return;
    block.begun = true;
    if (block.call === undefined) this.#answer.text(text);
    else this.#answer.callArguments(block.call, text);
  }

  #closeBlock(index: unknown): void {
    const block = this.#open.get(index);
    this.#open.delete(index);
    if (block?.type === "call" && !block.begun) this.#input(block, JSON.stringify(block.input ?? {}));
    if (block?.type === "thinking") {
      this.#thinking.push({ type: "thinking", thinking: block.thinking, signature: block.signature });
    }
  }

  #count(usage: RawUsage | null | undefined): void {
    this.#usage = { ...this.#usage, ...usage };
  }

  #finish(): void {
    if (this.#reason === undefined) throw new Cut();
    // The call that carried the formatted answer is none.
    const reason = this.#reason === "calls" && this.#calls === 0 ? "stop" : this.#reason;
    const opaque: Opaque | undefined =
      this.#thinking.length > 0 ? { provider: "anthropic", blocks: this.#thinking } : undefined;
    this.#answer.finish(reason, usageOf(this.#usage), opaque);
  }
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
  // Only tools that run at the provider pause a turn, and we ask for none.
  ["pause_turn", "other"],
]);

/** Tokens read from or written to a cache count apart on this wire, and are input all the same. */
function usageOf(usage: RawUsage): Usage | undefined {
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
