import { textOf, type Item, type ItemOf } from "../../protocol/threads/items.ts";

/** The body was taken out when a person was erased; order, kind and pairs stayed. */
export function isErased(item: Item): boolean {
  return "erased" in item.body;
}

/** State of a run, computed from its items. A strategy looks at it and does what is missing. */
export type Fold = {
  readonly items: readonly Item[];
  /** Model answers so far. */
  readonly steps: number;
  /** Calls without a result, in the order they were asked for. */
  readonly openCalls: readonly ItemOf<"call">[];
  /**
   * The last answer, if it asked for no calls and nobody said anything since; what is only protocol is none, and neither is
   * one without a word, unless the run ended with it.
   */
  readonly answer: ItemOf<"message"> | undefined;
};

/** Returns the text that the model wrote in its strategy's protocol; undefined: it wrote an answer. */
export function protocolText({ body }: ItemOf<"message">): string | undefined {
  return body.protocolAt === undefined ? undefined : (body.reasoning ?? "").slice(body.protocolAt);
}

/** A step that a tool asked for (`<step>.<index>/<n>`) is recorded, but is no part of the conversation. */
export function isNested(item: Item): boolean {
  return item.step !== null && item.step.includes("/");
}

export function foldOf(items: readonly Item[]): Fold {
  const calls: ItemOf<"call">[] = [];
  const answered = new Set<string>();
  let steps = 0;
  let last: ItemOf<"message"> | undefined;
  let lastSaid = 0;
  for (const item of items) {
    if (isNested(item)) continue;
    if (item.kind === "call") calls.push(item);
    else if (item.kind === "result") answered.add(callKey(item));
    else if (item.kind === "message" && item.step !== null) {
      steps++;
      last = item;
    } else if (item.kind === "message") lastSaid = item.seq;
  }
  return {
    items,
    steps,
    openCalls: calls.filter((call) => !answered.has(callKey(call))),
    answer:
      last &&
      (!isWordless(last) || hasEnded(items)) &&
      (last.body.seen ?? last.seq) >= lastSaid &&
      !calls.some((call) => call.step === last.step)
        ? last
        : undefined,
  };
}

/** And goes on no more. */
function hasEnded(items: readonly Item[]): boolean {
  const last = items.findLast(
    (item): item is ItemOf<"state"> => item.kind === "state" && /^run-(end|resume)$/.test(item.body.type),
  );
  return last?.body.type === "run-end";
}

/** Nothing was said in it. */
export function isWordless({ body }: ItemOf<"message">): boolean {
  return !("erased" in body) && textOf(body.content).trim() === "";
}

export function callKey(item: { readonly step: string | null; readonly index: number | null }): string {
  return `${item.step}.${item.index}`;
}
