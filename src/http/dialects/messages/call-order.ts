import type { ModelPart } from "../../../protocol/agents/models.ts";

export type CallPart = Extract<ModelPart, { type: "call-start" | "call-delta" }>;

/**
 * Puts calls one after the other: a block that is closed takes no more, and a model may write on several calls by turns. What is
 * of a later call waits until the arguments of the one that is told are whole JSON, at the latest until the end.
 */
export function createCallOrder() {
  /** The call that is told, and its arguments so far. */
  let told: { readonly index: number; written: string } | undefined;
  let waiting: CallPart[] = [];

  const tell = (part: CallPart): CallPart => {
    if (part.type === "call-start") told = { index: part.index, written: "" };
    else told!.written += part.arguments;
    return part;
  };
  /** What waits of the next call, if there is one. */
  const next = (): CallPart[] => {
    const { index } = waiting[0]!;
    const own = waiting.filter((part) => part.index === index);
    waiting = waiting.filter((part) => part.index !== index);
    return own.map(tell);
  };
  return {
    take(part: CallPart): readonly CallPart[] {
      if (told === undefined || part.index === told.index) return [tell(part)];
      waiting.push(part);
      // Looked at when another one begins: once for each call.
      return part.type === "call-start" && isWhole(told.written) ? next() : [];
    },
    rest(): readonly CallPart[] {
      const parts: CallPart[] = [];
      while (waiting.length > 0) parts.push(...next());
      return parts;
    },
  };
}

function isWhole(written: string): boolean {
  try {
    JSON.parse(written);
    return true;
  } catch {
    return false;
  }
}
