import type { ToolSchema, ModelMessage } from "../../protocol/agents/models.ts";
import { knownName, nameOf } from "../text/call-fields.ts";
import { isObject, objectsIn, strictJson } from "../text/lenient-json.ts";
import type { ModelAnswer } from "../contract/answer.ts";
import { ColloquyError } from "../../protocol/base/errors.ts";
import type { Item, ItemOf } from "../../protocol/threads/items.ts";
import { isNested, isWordless, protocolText } from "../log/fold.ts";

/**
 * The calls of an answer as they are meant: of the tool that a name stands for, with arguments as one JSON object where the
 * text is one but for its form, and each once that a provider told twice under one id.
 */
export function repairCalls(calls: ModelAnswer["calls"], tools: readonly ToolSchema[]): ModelAnswer["calls"] {
  const names = tools.map(({ name }) => name);
  const told = new Set<string>();
  return calls.flatMap(({ name: written, arguments: text, given }) => {
    const name = names.includes(written) ? written : (knownName(nameOf(written) ?? written, names) ?? written);
    const call = { name, arguments: mendedArguments(text) };
    if (given === undefined) return [call];
    const identity = JSON.stringify([given, call]);
    if (told.has(identity)) return [];
    told.add(identity);
    return [call];
  });
}

function withoutFence(text: string): string {
  const [begin] = /^```\w*/.exec(text) ?? [];
  const isFenced = begin !== undefined && text.endsWith("```") && text.length >= begin.length + 3;
  return isFenced ? text.slice(begin.length, -3).trim() : text;
}

/** Repairs arguments with a known fault. Correct or unclear ones stay as written. */
function mendedArguments(text: string): string {
  const value = strictJson(text);
  if (isObject(value)) return text;
  // Encoded twice on its way.
  if (typeof value === "string") return isObject(strictJson(value)) ? value : text;
  if (value !== undefined || text.trim() === "") return text;
  const bare = withoutFence(text.trim());
  if (isObject(strictJson(bare))) return bare;
  const found = objectsIn(bare);
  const [first] = found;
  if (!first || first.from !== 0 || found.at(-1)!.to !== bare.length || found.some(({ open }) => open > 0)) return text;
  const objects = new Set(found.map((each) => JSON.stringify(each.value)));
  // Told once more in the same place.
  if (objects.size > 1 || found.some((each, at) => at > 0 && bare.slice(found[at - 1]!.to, each.from).trim() !== ""))
    return text;
  const whole = bare.slice(first.from, first.to);
  return isObject(strictJson(whole)) ? whole : JSON.stringify(first.value);
}

/** Whether the run's last answer was none: neither a word nor a call. What is a strategy's protocol, and empty, is passed over. */
export function wasEmptyAnswer(items: readonly Item[]): boolean {
  const last = items.findLast(
    (item): item is ItemOf<"message"> =>
      item.kind === "message" && item.step !== null && !isNested(item) && !isEmptyProtocol(item),
  );
  if (!last || protocolText(last) !== undefined || !isWordless(last)) return false;
  return !items.some((item) => item.kind === "call" && item.step === last.step);
}

function isEmptyProtocol(item: ItemOf<"message">): boolean {
  return isWordless(item) && protocolText(item)?.trim() === "";
}

/** Tells the model that its answer was empty. */
export const emptyAnswerReminder: readonly ModelMessage[] = [
  {
    role: "user",
    content:
      "Your last answer had no words, and no call of a tool that could be read. Write your answer to the user now, in words; or call a tool, by the means that you are given for it.",
  },
];

/** Whether the run has done anything that stands without a word about it. */
export function hasWorked(items: readonly Item[]): boolean {
  return items.some((item) => item.kind === "result" && !isNested(item) && !item.body.isError);
}

/** Returns the text that replaces an empty answer after some work. Throws if nothing was done either. */
export function emptyAnswerNotice(answer: ModelAnswer, items: readonly Item[]): string {
  if (hasWorked(items)) return "The model ended its work without a word about it. What it did stands above.";
  const why =
    answer.finish === "length"
      ? "it came to its length limit before the first word. Let it write longer answers (settings.maxTokens of the agent), or choose another model."
      : "neither words nor a call. Ask again, or choose another model.";
  throw new ColloquyError("empty_answer", 502, `The model ${answer.model} gave no answer, twice: ${why}`);
}

export function contentFiltered({ model }: ModelAnswer): ColloquyError {
  const what = `The answer of the model ${model} was stopped by its provider's filter before its first word.`;
  return new ColloquyError("answer_filtered", 502, `${what} Put it in other words, or choose another model.`);
}
