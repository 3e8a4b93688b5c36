import { textOf, type Item, type ItemOf } from "../../protocol/threads/items.ts";
import { estimate } from "../log/estimate-tokens.ts";
import { fitting, lastFitting, shortened } from "../text/shorten.ts";
import { callKey, isErased, isNested, protocolText } from "../log/fold.ts";

import { parseObservation, parseThought } from "./react-parse.ts";

/** Room for earlier results: usually, and if it is short. What matters of them is in their observations. */
const longestEarlierResults = [4000, 400] as const;

/** A step of this strategy: `thought:1`, `observation:1`, …, `final:1`. */
export function isReactStep(item: Item): item is ItemOf<"message"> {
  return item.kind === "message" && /^(?:thought|observation|final):\d+$/.test(item.step ?? "") && !isErased(item);
}

export type ScratchpadOptions = {
  /** Names, to read the thoughts as they were read before. */
  readonly tools: readonly string[];
  /** The step whose results are told elsewhere in the prompt. */
  readonly resultsLeftOut?: string | null;
  /** Room for it. */
  readonly tokens: number;
};

/**
 * All that was done in the run, in the words of the protocol. What a model made up of a result is not in it. What there is no
 * room for is left out, the oldest first.
 */
export function scratchpadOf(items: readonly Item[], { tokens, ...options }: ScratchpadOptions): string {
  const began = items.find((item) => item.kind === "message" && item.step === null);
  const shown = items.filter((item) => item !== began && !isNested(item) && !isErased(item));
  let texts: readonly string[] = [];
  for (const longest of longestEarlierResults) {
    texts = textsOf(shown, { ...options, longest, longestLast: tokens / 2 });
    if (estimate(texts.join("\n")) <= tokens) break;
  }
  return lastFitting(texts, tokens).join("\n") || "(nothing yet)";
}

/** The results of a step's calls. */
export function resultsOf(items: readonly Item[], step: string | null): ItemOf<"result">[] {
  return items.filter((item): item is ItemOf<"result"> => item.kind === "result" && item.step === step);
}

type TextOptions = Omit<ScratchpadOptions, "tokens"> & {
  /** Characters of earlier results, and tokens of the last. */
  readonly longest: number;
  readonly longestLast: number;
};

function textsOf(
  items: readonly Item[],
  { tools, resultsLeftOut = null, longest, longestLast }: TextOptions,
): string[] {
  const results = new Map(
    items.flatMap((item) => (item.kind === "result" ? [[callKey(item), item.body] as const] : [])),
  );
  const calls = items.filter((item) => item.kind === "call");
  const steps = new Set(calls.map(({ step }) => step));
  const last = calls.at(-1)?.step;
  return items.flatMap((item) => {
    if (item.kind === "message") return textOfMessage(item, { tools, called: steps.has(item.step) }) ?? [];
    if (item.kind !== "call") return [];
    const called = `Action: ${item.body.name}\nAction Input: ${item.body.arguments}`;
    const result = results.get(callKey(item));
    if (!result || item.step === resultsLeftOut) return called;
    const told = item.step === last ? fitting(result.content, longestLast) : shortened(result.content, longest);
    return `${called}\n${result.isError ? "Observation: it failed:" : "Result:"} ${told}`;
  });
}

type MessageOptions = { readonly tools: readonly string[]; readonly called: boolean };

function textOfMessage(message: ItemOf<"message">, { tools, called }: MessageOptions): string | undefined {
  const said = textOf(message.body.content);
  if (message.step === null && message.body.role === "user") return `The user wrote meanwhile: ${said}`;
  if (!isReactStep(message)) return undefined;
  const text = protocolText(message);
  if (text === undefined) return `Final Answer: ${said}`;
  if (message.step!.startsWith("observation:")) return `Observation: ${parseObservation(text).observation}`;
  const { thought, finalAnswer = "" } = parseThought(text, { tools });
  if (said) return `Thought: ${thought}\nFinal Answer: ${said}`;
  if (called) return `Thought: ${thought}`;
  return `Thought: ${thought || finalAnswer}\nObservation: this had neither an Action nor a Final Answer.`;
}
