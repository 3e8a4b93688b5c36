import { callFields, knownName, longestName, nameOf, textValue } from "../text/call-fields.ts";
import { isObject, lenientJson, objectsIn } from "../text/lenient-json.ts";
import { visibleText } from "../text/visible-text.ts";
import type { ReactSection } from "./react-sections.ts";
import { sectionsOf } from "./react-sections.ts";

export type Thought = {
  readonly thought: string;
  /** The tool's name. With it, `input` is what stands behind `Action Input:`, as text; absent: there is none. */
  readonly action?: string;
  readonly input?: string;
  readonly finalAnswer?: string;
  /**
   * `no-tool`: the model says that it needs none. `missing-action`: it thought and did not say what to do.
   * `no-format`: it used none of the labels; then its text is the final answer, for a caller who accepts that.
   */
  readonly problem?: "no-tool" | "missing-action" | "no-format";
};

type ReactParseOptions = { readonly tools?: readonly string[] };

const noTool = /^(?:none|null|nil|nothing|n\/?a|no(?:t)?\b|-+)(?:$|[\s(.,:;-])/i;
/** Made up by the model in the line of what it asks for. */
const inlineObservation = /[ \t]Observation[ \t]*\d*:[^]*$/;
const finishing = /^(?:final[ _-]?answer|finish(?:ed)?|answer|respond|done)$/i;

/**
 * A step of the ReAct protocol: `Thought:`, then `Action:` and `Action Input:`, or `Final Answer:`. Never fails.
 *
 * Of an action and a final answer the first counts: an answer behind an action was written without having seen its
 * result, and an action behind an answer begins a question nobody asked. For the same reason everything behind the first
 * action's input is left out, above all an `Observation:` that the model made up.
 */
export function parseThought(text: string, { tools }: ReactParseOptions = {}): Thought {
  const said = visibleText(text);
  const spoken = said.text || said.thinking;
  if (said.call) return { thought: said.thinking, action: toolName(said.call.name, tools), input: said.call.arguments };
  const sections = sectionsOf(spoken);
  const decisive = sections.findIndex(({ label, value }) => label === "answer" || (label === "action" && value !== ""));
  const thought = thoughtOf(decisive === -1 ? sections : sections.slice(0, decisive), said.thinking, spoken);
  const section = sections[decisive];
  if (section?.label === "action")
    return { thought, ...actionOf(section.value, inputBehind(sections, decisive), tools) };
  if (section) return { thought, ...answerOf(section.value, sections.slice(decisive + 1)) };
  if (sections.some(({ label }) => label !== "preamble")) return { thought, problem: "missing-action" };
  return unlabelled(spoken, tools);
}

/** Whether the model says that it has the answer (undefined: it does not say), and what it says of the tool's result. */
export function parseObservation(text: string): { done: boolean | undefined; observation: string } {
  const { text: visible, thinking } = visibleText(text);
  const spoken = visible || thinking;
  const object = objectsIn(spoken)[0]?.value;
  if (object && ("final_answer" in object || "observation" in object)) {
    return { done: truth(textValue(object["final_answer"])), observation: textValue(object["observation"]) };
  }
  const sections = sectionsOf(spoken);
  const verdict = sections.find(({ label }) => label === "answer")?.value.trim();
  const observed = sections.find(({ label }) => label === "observation")?.value.trim();
  const rest = sections
    .filter(({ label }) => label === "preamble" || label === "thought")
    .map(({ value }) => value.trim());
  const [, word = "", more = ""] = /^[\s"'`*]*([\p{L}\d/]+)[\s"'`*.,;:)-]*([^]*)$/u.exec(verdict ?? "") ?? [];
  const done = truth(word);
  // Asked whether there is an answer, the model gives it.
  const isAnswer = verdict !== undefined && done === undefined && !/^(?:true\s*\/|not\b|unknown\b|$)/i.test(verdict);
  const observation = observed ?? (isAnswer ? verdict : [...rest, more].filter((part) => part !== "").join("\n"));
  return { done: isAnswer ? true : done, observation };
}

function truth(word: string): boolean | undefined {
  if (/^(?:true|yes|y|1)$/i.test(word)) return true;
  return /^(?:false|no|not|n|0)$/i.test(word) ? false : undefined;
}

function thoughtOf(sections: readonly ReactSection[], thinking: string, spoken: string): string {
  const thoughts = sections.filter(({ label }) => label === "thought" || label === "preamble");
  const thought = thoughts.map(({ value }) => value.trim()).filter((value) => value !== "");
  return thought.join("\n") || (thinking === spoken ? "" : thinking);
}

function inputBehind(sections: readonly ReactSection[], action: number): string | undefined {
  const next = sections.slice(action + 1).find(({ label }) => label !== "preamble");
  return next?.label === "input" ? withoutRest(next.value.trim()) : undefined;
}

/** An object or a code fence is the whole input; what the model writes behind it is commentary. */
function withoutRest(input: string): string {
  const fence = /^```[^]*?\n```/.exec(input);
  if (fence) return fence[0];
  const object = input.startsWith("{") ? objectsIn(input)[0] : undefined;
  if (object?.from === 0 && object.open === 0) return input.slice(0, object.to);
  return input.replace(inlineObservation, "").trimEnd();
}

function actionOf(
  written: string,
  input: string | undefined,
  tools: ReactParseOptions["tools"],
): Omit<Thought, "thought"> {
  const blob = /^(?:```\w*\s*)?\{/.test(written) ? jsonAction(written, tools) : undefined;
  if (blob) return blob;
  const asked = without(written.replace(inlineObservation, ""), "`* \t\n.,");
  const word = without(asked.split("\n", 1)[0]!, "`\"'* \t.,").slice(0, longestName);
  if (knownName(word, tools) === undefined && noTool.test(word)) return { problem: "no-tool" };
  const call = /^([\w.-]+)\s*(?:\(([^]*)\)|\[([^]*)\])$/.exec(asked);
  const called = call && (call[2] ?? call[3] ?? "").trim();
  const name = call ? call[1]! : (nameOf(word) ?? word);
  const given = input ?? (called ? positional(called) : undefined);
  if (finishing.test(name) && knownName(name, tools) === undefined) return { finalAnswer: given ?? "" };
  return { action: toolName(name, tools), ...(given === undefined ? {} : { input: given }) };
}

/** A text without any of these characters at its ends. */
function without(text: string, characters: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && characters.includes(text[from]!)) from++;
  while (to > from && characters.includes(text[to - 1]!)) to--;
  return text.slice(from, to);
}

/** `Use the web_search tool` means the one known tool it names. */
function toolName(written: string, tools: ReactParseOptions["tools"]): string {
  const exact = knownName(written, tools);
  if (exact !== undefined) return exact;
  const mentioned = new Set(written.toLowerCase().split(/[^\w-]+/));
  const named = (tools ?? []).filter((tool) => mentioned.has(tool.toLowerCase()));
  return named.length === 1 ? named[0]! : written;
}

/** `a="x", n=2` as an object, `"x", 2` as a list, anything else as it is. */
function positional(called: string): string {
  const isNamed = /^\w+\s*=(?!=)/.test(called);
  if (!isNamed && !/^["'\d-]/.test(called)) return called;
  const value = isNamed ? lenientJson(`{${withKeys(called)}}`) : lenientJson(`[${called}]`);
  if (isObject(value)) return JSON.stringify(value);
  return Array.isArray(value) && value.length > 1 ? JSON.stringify(value) : called;
}

/** Each `key=` outside of quotation marks as `"key":`. */
function withKeys(called: string): string {
  const piece = /["']|\b(\w+)\s*=(?!=)/g;
  const quoted = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/sy;
  // Behind a mark that nothing closes no other of its kind is closed: none is looked for again, or it would be at each.
  const open = new Set<string>();
  let written = "";
  let kept = 0;
  for (let found = piece.exec(called); found; found = piece.exec(called)) {
    const [whole, key] = found;
    if (key !== undefined) {
      written += `${called.slice(kept, found.index)}"${key}":`;
      kept = piece.lastIndex;
    } else if (!open.has(whole)) {
      quoted.lastIndex = found.index;
      if (quoted.test(called)) piece.lastIndex = quoted.lastIndex;
      else open.add(whole);
    }
  }
  return written + called.slice(kept);
}

/** `{"action": "web_search", "action_input": {…}}` instead of the two lines. */
function jsonAction(text: string, tools: ReactParseOptions["tools"]): Omit<Thought, "thought"> | undefined {
  const fields = objectsIn(text)
    .filter(({ open }) => open === 0)
    .map(({ value }) => callFields(value))
    .find((each) => each !== undefined && ("args" in each || each.tool !== undefined || each.answer !== undefined));
  const name = fields && nameOf(fields.tool ?? fields.action);
  if (!fields) return undefined;
  if (!name || finishing.test(name)) {
    return name || "answer" in fields ? { finalAnswer: textValue(fields.answer ?? fields.args) } : undefined;
  }
  if (noTool.test(name) && knownName(name, tools) === undefined) return { problem: "no-tool" };
  const input = "args" in fields ? textValue(fields.args) : undefined;
  return { action: toolName(name, tools), ...(input === undefined ? {} : { input }) };
}

/** `final_answer: true` belongs to the second step: then the answer is the observation behind it. */
function answerOf(value: string, behind: readonly ReactSection[]): Omit<Thought, "thought"> {
  const done = truth(value.trim());
  if (done === undefined) return { finalAnswer: value.trim() };
  const observation = behind.find(({ label }) => label === "observation")?.value.trim();
  return done && observation ? { finalAnswer: observation } : { problem: "missing-action" };
}

function unlabelled(text: string, tools: ReactParseOptions["tools"]): Thought {
  const blob = /^(?:```\w*\s*|<tool_call>\s*)?\{/.test(text) ? jsonAction(text, tools) : undefined;
  if (blob) return { thought: "", ...blob };
  return { thought: "", finalAnswer: text, problem: "no-format" };
}
