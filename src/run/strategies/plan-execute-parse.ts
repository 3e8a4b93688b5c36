import type { ResponseFormat } from "../../protocol/agents/models.ts";
import type { JsonObject } from "../text/lenient-json.ts";
import { isObject, lenientJson, objectsIn } from "../text/lenient-json.ts";
import { visibleText } from "../text/visible-text.ts";

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
const numbered = /^\s*(?:#{1,6}\s*)?[*_]{0,2}(?:step\s*)?\d+\s*[.):][*_]{0,2}\s+(?:\[[ x]\]\s+)?(\S.*)$/i;
const pointed = /^\s*[-*•]\s+(?:\[[ x]\]\s+)?(\S.*)$/i;
/** A list in JSON; prose has brackets too: links, boxes to tick, places in a text. */
const listBegin = /^\s*\[\s*\]\s*$|\[\s*["'“{]/;
const stepKey = /^(?:step)?[ _-]?\d+$/i;
const failure = /^[\s>*_#`-]*(?:step\s+)?FAILED\b[\s*_`]*[:：—–-]\s*[*_`]*/;

/** The steps that a text plans: a JSON list or an object with one, else the points of a list. Undefined: there are none. */
export function parsePlan(text: string): string[] | undefined {
  const { text: visible, thinking } = visibleText(text);
  const spoken = visible || thinking;
  const list = listIn(spoken);
  const steps = list?.map(textOfStep).filter((step) => step !== "");
  if (steps && (steps.length > 0 || list?.length === 0)) return steps;
  // Lines below a numbered one explain it.
  return pointsIn(spoken, numbered) ?? pointsIn(spoken, pointed);
}

function pointsIn(text: string, point: RegExp): string[] | undefined {
  const points = text.split("\n").flatMap((line) => point.exec(line.trim())?.[1] ?? []);
  return points.length > 0 ? points : undefined;
}

/** Parses a step's last text: its outcome, or why it failed. */
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
  const [brace, bracket] = [text.indexOf("{"), text.search(listBegin)];
  if (bracket !== -1 && (brace === -1 || bracket < brace)) {
    const value = lenientJson(text.slice(bracket, text.lastIndexOf("]") + 1 || undefined).trim());
    if (Array.isArray(value)) return value;
  }
  const isOnlyJson = /^\s*(?:```\w*\s*)?\{/.test(text);
  for (const { value } of objectsIn(text)) {
    const list = listOf(value) ?? (isOnlyJson ? Object.values(value).find(Array.isArray) : undefined);
    if (list) return list;
  }
  return undefined;
}

/** `{"steps": […]}`, also one deeper, or `{"step1": …, "step2": …}`. */
function listOf(object: JsonObject, depth = 0): readonly unknown[] | undefined {
  const entries = Object.entries(object);
  if (entries.length > 0 && entries.every(([key]) => stepKey.test(key))) return entries.map(([, value]) => value);
  for (const value of listKeys.map((key) => object[key])) {
    if (Array.isArray(value)) return value;
    const inner = isObject(value) && depth === 0 ? listOf(value, 1) : undefined;
    if (inner) return inner;
  }
  return undefined;
}

function textOfStep(step: unknown): string {
  if (typeof step === "string") return step.trim();
  if (!isObject(step)) return "";
  const text = textKeys.map((key) => step[key]).find((value) => typeof value === "string");
  return typeof text === "string" ? text.trim() : JSON.stringify(step);
}
