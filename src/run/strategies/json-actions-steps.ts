import { callKey, isNested, protocolText } from "../log/fold.ts";
import type { Item } from "../../protocol/threads/items.ts";
import { strictJson } from "../text/lenient-json.ts";
import { parseAction, type Action, type ActionNames } from "./json-actions-parse.ts";

/** One step of the protocol: what an agent wrote, and what came of it. */
export type ActionStep = {
  readonly number: number;
  /** Who decided. */
  readonly agent: string;
  readonly action: Action;
  /** `output` is absent while the tool is at work. */
  readonly calls: readonly { readonly name: string; readonly output?: string }[];
  /** The text in which no whole action was found, until it was said again or taken for the answer. */
  readonly unclear?: string;
};

/** The key of the request to say the same again, after a text without an action. */
export function repairKey(number: number): string {
  return `${number}:repair`;
}

/** The steps that the items of one run tell of, in order; a repeated reply counts for the one that could not be used. */
export function actionSteps(items: readonly Item[], known: ActionNames): ActionStep[] {
  const outputs = new Map(
    items.flatMap((item) => (item.kind === "result" ? [[callKey(item), item.body.content]] : [])),
  );
  const asked = Map.groupBy(
    items.filter((item) => item.kind === "call"),
    ({ step }) => step,
  );
  const steps = new Map<number, ActionStep>();
  for (const item of items) {
    if (item.kind !== "message" || item.step === null || isNested(item) || item.body.partial) continue;
    const text = protocolText(item);
    const number = Number.parseInt(item.step, 10);
    if (text === undefined || !(number > 0)) continue;
    const calls = (asked.get(item.step) ?? []).map((call) => {
      const output = outputs.get(callKey(call));
      return { name: call.body.name, given: call.body.arguments, ...(output === undefined ? {} : { output }) };
    });
    const said = parseAction(text, known);
    const parsed = said.problem && calls[0] ? parseAction(actionOfCall(text, calls[0])) : said;
    const first = steps.get(number)?.action;
    const read = first && parsed.problem ? { ...first, answer: first.answer || parsed.answer } : parsed;
    steps.set(number, {
      number,
      agent: item.author ?? "",
      // Committed calls count, however the text is parsed now.
      action: calls[0] ? { ...read, action: "use_tool", tool: calls[0].name } : read,
      calls,
      ...(parsed.problem && !first && item.body.content === "" ? { unclear: text } : {}),
    });
  }
  return [...steps.values()];
}

/** A call that the model made by its provider's own means, as the protocol would say it. */
function actionOfCall(thought: string, { name, given }: { readonly name: string; readonly given: string }): string {
  return JSON.stringify({
    thought,
    action: "use_tool",
    tool: name,
    target_agent: null,
    args: strictJson(given),
    answer: "",
  });
}
