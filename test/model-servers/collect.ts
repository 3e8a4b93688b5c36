import { ModelError } from "../../src/protocol/base/errors.ts";
import type { FinishReason, ModelPart, ModelStream, Usage } from "../../src/protocol/agents/models.ts";

export type Collected = {
  readonly parts: readonly ModelPart[];
  readonly batches: number;
  readonly model: string;
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finish: FinishReason | undefined;
  readonly usage: Usage | undefined;
  readonly opaque: unknown;
  /** How the stream failed, if it did. */
  readonly error: ModelError | undefined;
};

/** Reads a stream to its end; a ModelError is part of what is told, anything else is thrown. */
export async function collect(stream: ModelStream): Promise<Collected> {
  const parts: ModelPart[] = [];
  let batches = 0;
  let error: ModelError | undefined;
  try {
    for await (const batch of stream) {
      batches++;
      parts.push(...batch);
    }
  } catch (thrown) {
    if (!(thrown instanceof ModelError)) throw thrown;
    error = thrown;
  }
  const start = parts.find((part) => part.type === "start");
  const finish = parts.find((part) => part.type === "finish");
  const texts = (type: "text" | "reasoning") =>
    parts.flatMap((part) => (part.type === type ? [part.text] : [])).join("");
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const part of parts) {
    if (part.type === "call-start") calls[part.index] = { id: part.id, name: part.name, arguments: "" };
    if (part.type === "call-delta") calls[part.index]!.arguments += part.arguments;
  }
  return {
    parts,
    batches,
    model: start?.model ?? "",
    text: texts("text"),
    reasoning: texts("reasoning"),
    calls,
    finish: finish?.reason,
    usage: finish?.usage,
    opaque: finish?.opaque,
    error,
  };
}
