import type { ToolSchema } from "../../protocol/agents/models.ts";
import { callOfWholeText, writtenCalls, type WrittenCall } from "./written-calls.ts";

/** Visible parts of a piece of an answer. */
export type AnswerText = { readonly text: string; readonly thinking: string };

/** Reads an answer as it comes. */
export type AnswerTextReader = {
  readonly take: (piece: string) => AnswerText;
  /** Returns the text that was held back, and the calls that were written in it. */
  readonly end: () => AnswerText & { readonly calls: readonly WrittenCall[] };
};

const thought = "think|thinking|thought|reasoning";
/** Where an answer stops being one; at most so many characters long. */
const longestMark = 40;
const mark = new RegExp(
  `<(/?)(?:${thought})>|<tool_calls?>|<function=|<tool_response>|\\[TOOL_CALLS\\]|<end_of_turn>|<\\|[a-z_]{2,30}\\|>|<｜[^｜>]{1,30}｜>|\`\`\``,
  "i",
);
/** May become one with what follows. */
const beginning = /(?:<[^>\n]{0,39}|\[[A-Z_]{0,10}|`{1,2})$/;
/** A wire of its own for calls. */
const anyCalling =
  /<tool_calls?>|<function=|\[TOOL_CALLS\]|<\|(?:python_tag|tool_call\w*)\|>|<\|channel\|>[^<]{0,80}\bto=|<｜tool/i;
/** Like `anyCalling`, at the start of the remaining text. */
const calling = /^(?:<tool_call|<function=|\[TOOL_CALLS\]|<\|(?:python_tag|channel|start|tool_call\w*)\|>|<｜tool)/i;
/** Keys that the JSON of a call may begin with. */
const callKeys = new Set([
  ...["name", "tool", "tool_name", "function", "function_name", "type", "id"],
  ...["arguments", "parameters", "tool_call", "tool_calls"],
]);
/** Before the first key of an object stands no more. */
const longestStart = 60;

const nothing: AnswerText = { text: "", thinking: "" };

/**
 * Takes out of an answer what servers leave in it that don't know the model: `<think>` tags, marks of a wire for calls with the
 * calls behind them, and stop tokens. What is in a code fence, in backticks, or within a line (but for tokens) is content.
 * `tools`: those that were offered; without any, JSON is never a call.
 */
export function createAnswerTextReader(tools: readonly ToolSchema[]): AnswerTextReader {
  let state: "start" | "text" | "thinking" | "json" | "calling" | "over" = "start";
  let held = "";
  let isFenced = false;
  let isLineStart = true;
  let mayClose = true;
  /** Behind a thought. */
  let skipsSpace = false;
  let last = "";

  const told = (text: string): string => {
    last = text.at(-1) ?? last;
    const line = text.lastIndexOf("\n");
    if (line !== -1) isLineStart = text.slice(line + 1).trim() === "";
    else if (text.trim() !== "") isLineStart = false;
    return text;
  };

  /** Goes on until nothing more can be said of what is held. */
  function read(): AnswerText {
    let [text, thinking] = ["", ""];
    for (;;) {
      if (state === "calling" || state === "over") break;
      if (state === "json") {
        if (!isJsonOfCall(held)) state = "text";
        else break;
      }
      if (state === "start") {
        const begun = held.trimStart();
        if (begun === "") break;
        if (skipsSpace) held = begun;
        skipsSpace = false;
        state = tools.length > 0 && /^[{[]|^`{1,3}/.test(begun) && isJsonOfCall(begun) ? "json" : "text";
        continue;
      }
      if (state === "thinking") {
        const end = new RegExp(`</(?:${thought})>`, "i").exec(held);
        if (!end) {
          const keep = /<[^>\n]{0,12}$/.exec(held)?.index ?? held.length;
          thinking += held.slice(0, keep);
          held = held.slice(keep);
          break;
        }
        thinking += held.slice(0, end.index);
        held = held.slice(end.index + end[0].length);
        [state, skipsSpace] = ["start", true];
        continue;
      }
      const found: RegExpExecArray | null = mark.exec(held);
      if (!found) {
        const keep = beginning.exec(held)?.index ?? held.length;
        text += told(held.slice(0, keep));
        held = held.slice(keep);
        break;
      }
      text += told(held.slice(0, found.index));
      const [token, closing] = found;
      const behind = held.slice(found.index + token.length);
      if (token === "```") {
        if (isLineStart) isFenced = !isFenced;
      } else if (!isFenced && last !== "`") {
        const isToken = token.startsWith("<|") || token.startsWith("<｜");
        if (closing === "/" && mayClose) {
          // Its opening tag stood in the prompt.
          text += told(isLineStart ? "\n" : "\n\n");
          [held, state, mayClose, skipsSpace] = [behind, "start", false, true];
          continue;
        }
        if (closing === "" && isLineStart) {
          [held, state, mayClose] = [behind, "thinking", false];
          continue;
        }
        if (isToken || isLineStart || token === "<end_of_turn>") {
          if (calling.test(token)) {
            [held, state] = [token + behind, "calling"];
            break;
          }
          if (closing === undefined) {
            [held, state] = ["", "over"];
            break;
          }
        }
      }
      text += told(token);
      held = behind;
    }
    return text === "" && thinking === "" ? nothing : { text, thinking };
  }

  return {
    take(piece) {
      if (piece === "") return nothing;
      if (state === "over") return nothing;
      // The way of nearly every piece.
      if (state === "text" && held === "" && !/[<[`]/.test(piece)) return { text: told(piece), thinking: "" };
      held += piece;
      return state === "calling" ? nothing : read();
    },
    end() {
      const rest = held;
      held = "";
      if (state === "calling") {
        const { calls, said, thought: thinking } = writtenCalls(rest, tools);
        return { text: said, thinking, calls };
      }
      const call = state === "json" ? callOfWholeText(rest, tools) : undefined;
      if (call) return { ...nothing, calls: [call] };
      if (state === "over" || rest.length > longestMark)
        return { text: state === "over" ? "" : rest, thinking: "", calls: [] };
      if (state === "start" && rest.trim() === "") return { ...nothing, calls: [] };
      return state === "thinking" ? { text: "", thinking: rest, calls: [] } : { text: rest, thinking: "", calls: [] };
    },
  };
}

/** A whole text that is none of a strategy's protocol, as it is to be told. */
export function spokenText(text: string): string {
  const ear = createAnswerTextReader([]);
  return ear.take(text).text + ear.end().text;
}

/** Whether there may be calls in a text that is a strategy's own protocol. */
export function hasCallMark(text: string): boolean {
  return anyCalling.test(text);
}

/** As far as it has come; a fence may stand around it. */
function isJsonOfCall(text: string): boolean {
  const begun = text.trimStart();
  const inner = /^`{1,3}(?:(?:json|tool_call|tool_code)?\s*)?/.exec(begun)?.[0] ?? "";
  const rest = begun.slice(inner.length);
  if (rest === "" || /^[a-z_]{0,9}$/.test(rest)) return begun.length < longestStart;
  const key = /^\[?\s*\{\s*"([^"]*)"/.exec(rest)?.[1];
  if (key !== undefined) return callKeys.has(key);
  return /^\[?\s*(?:\{\s*(?:"[^"]*)?)?$/.test(rest) && begun.length < longestStart;
}
