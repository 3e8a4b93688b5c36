import { newId } from "../../protocol/base/ids.ts";
import { callIdOf } from "../../protocol/threads/items.ts";
import type { FinishReason, ModelMessage, ModelPart, ModelRequest, Usage } from "../../protocol/agents/models.ts";

export type FinishDetails = { readonly opaque?: unknown; readonly stoppedBy?: unknown };

/**
 * Writes the parts of one answer: mints call ids, counts indexes from 0, and estimates what the provider does not count.
 * Parts are appended to the batch that the caller has set.
 */
export class AnswerWriter {
  readonly #request: ModelRequest;
  #characters = 0;
  #calls = 0;
  #batch: ModelPart[] = [];
  finished = false;

  constructor(request: ModelRequest) {
    this.#request = request;
  }

  /** The parts since the last time. */
  take(): readonly ModelPart[] {
    const batch = this.#batch;
    if (batch.length > 0) this.#batch = [];
    return batch;
  }

  text(text: string): void {
    if (text === "") return;
    this.#characters += text.length;
    this.#batch.push({ type: "text", text });
  }

  reasoning(text: string): void {
    if (text === "") return;
    this.#characters += text.length;
    this.#batch.push({ type: "reasoning", text });
  }

  /** Gives the index for the call's arguments. */
  startCall(name: string, given?: unknown): number {
    const index = this.#calls++;
    this.#characters += name.length;
    this.#batch.push({
      type: "call-start",
      index,
      id: callIdOf(newId()),
      name,
      ...(typeof given === "string" && given !== "" ? { given } : undefined),
    });
    return index;
  }

  callArguments(index: number, text: string): void {
    if (text === "") return;
    this.#characters += text.length;
    this.#batch.push({ type: "call-delta", index, arguments: text });
  }

  /** Some providers say `stop` though they call: what was called decides. `stoppedBy` as the provider tells it, if it does. */
  finish(reason: FinishReason, usage: Usage | undefined, { opaque, stoppedBy }: FinishDetails = {}): void {
    if (this.finished) return;
    this.finished = true;
    const known = this.#calls > 0 && reason === "stop" ? "calls" : reason;
    // The same fields may tell a token, or a mark of the model's own.
    const stopSequence = known === "stop" && this.#request.settings?.stop?.find((stop) => stop === stoppedBy);
    this.#batch.push({
      type: "finish",
      reason: known,
      usage: usage ?? estimateUsage(this.#request, this.#characters),
      ...(stopSequence ? { stopSequence } : undefined),
      ...(opaque === undefined ? undefined : { opaque }),
    });
  }
}

/** Of a request whose answer had so many characters. */
export function estimateUsage(request: ModelRequest, characters: number): Usage {
  return { inputTokens: tokensOf(promptCharacters(request)), outputTokens: tokensOf(characters), estimated: true };
}

export function charactersOf(part: ModelPart): number {
  if (part.type === "text" || part.type === "reasoning") return part.text.length;
  if (part.type === "call-start") return part.name.length;
  return part.type === "call-delta" ? part.arguments.length : 0;
}

function tokensOf(characters: number): number {
  return Math.ceil(characters / 4);
}

function promptCharacters(request: ModelRequest): number {
  let characters = request.tools ? JSON.stringify(request.tools).length : 0;
  for (const message of request.messages) characters += messageCharacters(message);
  return characters;
}

function messageCharacters(message: ModelMessage): number {
  if (message.role === "assistant") {
    return (message.calls ?? []).reduce(
      (sum, call) => sum + call.name.length + call.arguments.length,
      message.content.length,
    );
  }
  if (typeof message.content === "string") return message.content.length;
  return message.content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
}
