import { textOf, type Item, type ItemOf } from "../../protocol/items.ts";
import { isErased, isNested, protocolText } from "../fold.ts";
import { shortened } from "../shortened.ts";
import { parseObservation, parseThought } from "./react-parse.ts";

/** What earlier results may fill; what matters of them stands in their observations. */
const longestEarlierResult = 4000;

/** A step of this strategy: `thought:1`, `observation:1`, …, `final:1`. */
export function isReactStep(item: Item): item is ItemOf<"message"> {
  return item.kind === "message" && /^(?:thought|observation|final):\d+$/.test(item.step ?? "") && !isErased(item);
}

export type ScratchpadOptions = {
  /** Names, to read the thoughts as they were read before. */
  readonly tools: readonly string[];
  /** The step whose results are told elsewhere in the prompt. */
  readonly resultsLeftOut?: string | null;
};

/** All that was done in the run, in the words of the protocol. What a model made up of a result is not in it. */
export function scratchpadOf(items: readonly Item[], { tools, resultsLeftOut = null }: ScratchpadOptions): string {
  const began = items.find((item) => item.kind === "message" && item.step === null);
  const lines = items.flatMap((item) => {
    if (item === began || isNested(item) || isErased(item)) return [];
    if (item.kind === "call") return linesOfCall(items, item, resultsLeftOut);
    return item.kind === "message" ? linesOfMessage(items, item, tools) : [];
  });
  return lines.join("\n") || "(nothing yet)";
}

/** The results of a step's calls. */
export function resultsOf(items: readonly Item[], step: string | null): ItemOf<"result">[] {
  return items.filter((item): item is ItemOf<"result"> => item.kind === "result" && item.step === step);
}

function linesOfCall(items: readonly Item[], call: ItemOf<"call">, resultsLeftOut: string | null): string[] {
  const lines = [`Action: ${call.body.name}`, `Action Input: ${call.body.arguments}`];
  const result = resultsOf(items, call.step).find(({ index }) => index === call.index);
  if (!result || call.step === resultsLeftOut) return lines;
  const { content, isError } = result.body;
  if (isError) return [...lines, `Observation: it failed: ${content}`];
  const isLast = call.step === items.findLast((item) => item.kind === "call")?.step;
  return [...lines, `Result: ${isLast ? content : shortened(content, longestEarlierResult)}`];
}

function linesOfMessage(items: readonly Item[], message: ItemOf<"message">, tools: readonly string[]): string[] {
  const said = textOf(message.body.content);
  if (message.step === null && message.body.role === "user") return [`The user wrote meanwhile: ${said}`];
  if (!isReactStep(message)) return [];
  const text = protocolText(message);
  if (text === undefined) return [`Final Answer: ${said}`];
  if (message.step!.startsWith("observation:")) return [`Observation: ${parseObservation(text).observation}`];
  const { thought, finalAnswer = "" } = parseThought(text, { tools });
  if (said) return [`Thought: ${thought}`, `Final Answer: ${said}`];
  if (hasCalls(items, message.step)) return [`Thought: ${thought}`];
  return [`Thought: ${thought || finalAnswer}`, "Observation: this had neither an Action nor a Final Answer."];
}

function hasCalls(items: readonly Item[], step: string | null): boolean {
  return items.some((item) => item.kind === "call" && item.step === step);
}
