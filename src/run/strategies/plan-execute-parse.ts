import type { ResponseFormat } from "../../protocol/models.ts";
import { isObject, lenientJson, objectsIn } from "../lenient-json.ts";
import { visibleText } from "../visible-text.ts";

export const planFormat: ResponseFormat = {
  type: "json-schema",
  name: "plan",
  strict: true,
  schema: {
    type: "object",
    properties: { steps: { type: "array", items: { type: "string" } } },
    required: ["steps"],
    additionalProperties: false,
  },
};

const listKeys = ["steps", "plan", "tasks"];
const textKeys = ["text", "step", "description", "task", "title", "action", "name"];
const listed = /^\s*(?:(?:step\s*)?\d+\s*[.):]|[-*•])\s+(.+)$/i;
const failure = /^[\s>*_#`-]*(?:step\s+)?FAILED\b[\s*_`]*[:：—–-]\s*[*_`]*/;

/** The steps that a text plans: a JSON list or an object with one, else the points of a list. Undefined: there are none. */
export function parsePlan(text: string): string[] | undefined {
  const { text: visible, thinking } = visibleText(text);
  const spoken = visible || thinking;
  const list = listIn(spoken);
  if (list) return list.map(textOfStep).filter((step) => step !== "");
  const points = spoken.split("\n").flatMap((line) => listed.exec(line)?.[1]?.trim() ?? []);
  return points.length > 0 ? points : undefined;
}

/** What a step's last text says: what came out of it, or why it failed. */
export function parseOutcome(text: string): { readonly failed: boolean; readonly text: string } {
  const { text: visible, thinking } = visibleText(text);
  const lines = (visible || thinking).split("\n");
  let inCode = false;
  const at = lines.findIndex((line) => {
    if (/^\s*```/.test(line)) inCode = !inCode;
    return !inCode && failure.test(line);
  });
  if (at === -1) return { failed: false, text: lines.join("\n").trim() };
  const [reason = "", ...rest] = [lines[at]!.replace(failure, ""), ...lines.slice(0, at), ...lines.slice(at + 1)];
  return { failed: true, text: [reason, ...rest].join("\n").trim() || "no reason was given" };
}

function listIn(text: string): readonly unknown[] | undefined {
  const [brace, bracket] = [text.indexOf("{"), text.indexOf("[")];
  if (bracket !== -1 && (brace === -1 || bracket < brace)) {
    const value = lenientJson(text.slice(bracket, text.lastIndexOf("]") + 1 || undefined));
    if (Array.isArray(value)) return value;
  }
  for (const { value } of objectsIn(text)) {
    const named = listKeys.map((key) => value[key]).find(Array.isArray);
    const list: unknown = named ?? Object.values(value).find(Array.isArray);
    if (Array.isArray(list)) return list;
  }
  return undefined;
}

function textOfStep(step: unknown): string {
  if (typeof step === "string") return step.trim();
  if (!isObject(step)) return "";
  const text = textKeys.map((key) => step[key]).find((value) => typeof value === "string");
  return typeof text === "string" ? text.trim() : JSON.stringify(step);
}
