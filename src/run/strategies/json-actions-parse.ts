import type { CallFields } from "../text/call-fields.ts";
import { normalizedName, callFields, knownName, nameOf, textValue } from "../text/call-fields.ts";
import type { FoundObject, JsonObject } from "../text/lenient-json.ts";
import { isObject, lenientJson, objectsIn, strictJson } from "../text/lenient-json.ts";
import type { VisibleText } from "../text/visible-text.ts";
import { visibleText } from "../text/visible-text.ts";

export type Action = {
  readonly thought: string;
  /** `use_tool`, `delegate`, `final`, or the word the model wrote: an invalid action. */
  readonly action: string;
  readonly tool: string | null;
  readonly targetAgent: string | null;
  readonly args: JsonObject;
  /** Arguments that are no object, as text: the tool's schema says what they mean (`argumentsOf`). */
  readonly input?: string;
  readonly answer: string;
  /** The object as the model wrote it, missing keys filled in: what the context log quotes. */
  readonly written: JsonObject;
  /** The text has no action, or ends in the middle of it. Then `action` is `final`: half a call is never made. */
  readonly problem?: "no-json" | "cut-off";
};

/** Names the model may use. They let a tool's or an agent's name count where it stands in the wrong place. */
export type ActionNames = { readonly tools?: readonly string[]; readonly agents?: readonly string[] };

const actionWords: Readonly<Record<string, string>> = {
  ...words("use_tool", ["usetool", "usetools", "tool", "toolcall", "calltool", "functioncall"]),
  ...words("delegate", ["delegate", "delegateto", "handoff", "handover", "transfer"]),
  ...words("final", ["final", "finalanswer", "finish", "finished", "answer", "respond", "done"]),
};

/**
 * The action in a model's answer. Never fails: a text without one is itself the final answer, as `problem` says.
 * Of several actions the first complete one counts: the others were written without having seen its result.
 */
export function parseAction(text: string, known: ActionNames = {}): Action {
  const whole = strictJson(text);
  if (isObject(whole)) return actionOf(whole, known) ?? noAction(text);
  const said = visibleText(text);
  const found = spokenObjects(said);
  for (const each of found) {
    const action = actionOf(each.value, known);
    if (action && isWhole(each, action)) return action;
    if (action) return cutOff(action, said.text || text);
  }
  const args = said.call && lenientJson(said.call.arguments);
  if (said.call && isObject(args)) return calledNatively(said.call.name, args, said, known);
  return noAction(said.text || text);
}

/** An answer that is nothing but thinking may end with the action; what stands earlier in it is only considered. */
function spokenObjects(said: VisibleText): readonly FoundObject[] {
  if (said.text !== "" || said.call) return objectsIn(said.text);
  const last = objectsIn(said.thinking).at(-1);
  return last && /^[\s`]*$/.test(said.thinking.slice(last.to)) ? [last] : [];
}

/** Models forget the last brace. Anything else that is open may have lost something, and what is lost is not guessed. */
function isWhole({ open, inString, value }: FoundObject, { action }: Action): boolean {
  if (open === 0) return true;
  return open === 1 && !inString && (action === "final" || Object.values(value).some(isObject));
}

function actionOf(object: JsonObject, known: ActionNames): Action | undefined {
  const fields = callFields(object);
  if (!fields) return undefined;
  const named = namesOf(fields, known);
  const { args, input } = argsOf(
    fields.args ?? (named.action === "use_tool" ? fields.others : undefined),
    named.action,
  );
  const answer = textValue(fields.answer);
  return {
    thought: textValue(fields.thought),
    ...named,
    args,
    ...(input === undefined || named.action === "final" ? {} : { input }),
    answer: answer === "" && named.action === "final" ? answerIn(fields.args) : answer,
    written: withDefaults(object),
  };
}

function namesOf(fields: CallFields, known: ActionNames): Pick<Action, "action" | "tool" | "targetAgent"> {
  const word = nameOf(fields.action) ?? "";
  const namedTool = nameOf(fields.tool);
  const namedAgent = nameOf(fields.targetAgent);
  const tool = namedTool && (knownName(namedTool, known.tools) ?? namedTool);
  const targetAgent = namedAgent && (knownName(namedAgent, known.agents) ?? namedAgent);
  const action = actionWords[normalizedName(word)];
  if (action) return { action, tool, targetAgent };
  if (word === "") return { action: impliedAction(fields, tool, targetAgent), tool, targetAgent };
  const toolInAction = knownName(word, known.tools);
  if (toolInAction) return { action: "use_tool", tool: toolInAction, targetAgent };
  const agentInAction = knownName(word, known.agents);
  if (agentInAction) return { action: "delegate", tool, targetAgent: agentInAction };
  return { action: word, tool, targetAgent };
}

/** Without the key it is an answer, unless there is none and something to do is named. */
function impliedAction(fields: CallFields, tool: string | null, targetAgent: string | null): string {
  if (textValue(fields.answer) !== "") return "final";
  if (tool) return "use_tool";
  return targetAgent ? "delegate" : "final";
}

function argsOf(written: unknown, action: string): { args: JsonObject; input?: string } {
  const value = typeof written === "string" && /^\s*[[{]/.test(written) ? (lenientJson(written) ?? written) : written;
  if (isObject(value)) return { args: value };
  if (Array.isArray(value)) return argsOfList(value);
  const input = textValue(value);
  if (input === "" || nameOf(input) === null) return { args: {} };
  return action === "delegate" ? { args: { task: input } } : { args: {}, input };
}

/** `[{…}]` is the object in it; `[{key, value}, …]` and `[{name, value}, …]` are pairs; anything else is for the schema. */
function argsOfList(list: readonly unknown[]): { args: JsonObject; input?: string } {
  if (list.length === 0) return { args: {} };
  const pairs = list.map((each) =>
    isObject(each) && "value" in each ? [each["key"] ?? each["name"], each["value"]] : [],
  );
  if (pairs.every(([key]) => typeof key === "string")) return { args: Object.fromEntries(pairs) as JsonObject };
  const [only] = list;
  return list.length === 1 && isObject(only) ? { args: only } : { args: {}, input: JSON.stringify(list) };
}

/** A final answer that stands where arguments belong: `{"action": "Final Answer", "action_input": "…"}`. */
function answerIn(args: unknown): string {
  if (!isObject(args)) return textValue(args);
  const values = Object.values(args);
  const answer = args["answer"] ?? args["final_answer"] ?? (values.length === 1 ? values[0] : undefined);
  return textValue(answer);
}

function calledNatively(name: string, args: JsonObject, said: VisibleText, known: ActionNames): Action {
  const whole = callFields(args) && actionOf(args, known);
  if (whole && knownName(name, known.tools) === undefined) return whole;
  const object = { thought: said.thinking, action: "use_tool", tool: knownName(name, known.tools) ?? name, args };
  return actionOf(object, known)!;
}

function cutOff(action: Action, text: string): Action {
  const { thought, written } = action;
  const answer = action.action === "final" && action.answer !== "" ? action.answer : text;
  return { thought, action: "final", tool: null, targetAgent: null, args: {}, answer, written, problem: "cut-off" };
}

function noAction(text: string): Action {
  const said = { thought: "JSON parsing failed", action: "final", args: {}, answer: text };
  return { ...said, tool: null, targetAgent: null, written: withDefaults(said), problem: "no-json" };
}

function withDefaults(written: JsonObject): JsonObject {
  const defaults = { thought: "", action: "final", tool: null, target_agent: null, args: {}, answer: "" };
  return { ...written, ...Object.fromEntries(Object.entries(defaults).filter(([key]) => !(key in written))) };
}

function words(action: string, synonyms: readonly string[]): Record<string, string> {
  return Object.fromEntries(synonyms.map((synonym) => [synonym, action]));
}
