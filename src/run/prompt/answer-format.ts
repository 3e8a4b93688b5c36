import { toDoubles } from "../../protocol/base/exact-json.ts";
import { ColloquyError, messageOf } from "../../protocol/base/errors.ts";
import type { FinishReason, ModelMessage, ResponseFormat } from "../../protocol/agents/models.ts";
import { schemaCheck } from "../text/json-schema.ts";
import { isObject, lenientJson, strictJson } from "../text/lenient-json.ts";
import { visibleText } from "../text/visible-text.ts";

const maxFences = 8;

/** The answer as JSON text and nothing else, or why there is none. */
export type FormattedAnswer = { readonly text: string } | { readonly problems: readonly string[] };

/** Throws InvalidInput `invalid_schema` if an answer could never be checked. */
export function checkFormat(format: ResponseFormat): void {
  if (format.type === "json-schema") schemaCheck(format.schema);
}

/**
 * Finds the answer in what a model wrote: all of it, or what stands in a fence or between the outermost brackets, with the
 * faults of writing mended that models make. What it means is never changed.
 */
export function parseFormatted(format: ResponseFormat, written: string, finish?: string): FormattedAnswer {
  let first: readonly string[] | undefined;
  try {
    for (const text of candidatesIn(visibleText(written).text)) {
      const exact = strictJson(text);
      // Half of an answer must not be closed and taken for the whole.
      const value = exact === undefined && finish !== "length" && /[\]}]$/.test(text) ? lenientJson(text) : exact;
      if (value === undefined) continue;
      const problems = problemsOf(format, toDoubles(value));
      if (problems.length === 0) return { text: exact === undefined ? JSON.stringify(value) : text };
      first ??= problems;
    }
  } catch (error) {
    // A pattern that ran out of time, or nesting without end.
    return { problems: [`the answer could not be checked: ${messageOf(error)}`] };
  }
  if (finish === ("length" satisfies FinishReason)) return { problems: ["the answer was cut off at its length limit"] };
  return { problems: first ?? ["the answer is not JSON"] };
}

function problemsOf(format: ResponseFormat, value: unknown): readonly string[] {
  if (format.type === "json") return isObject(value) ? [] : ["the answer must be a JSON object"];
  return schemaCheck(format.schema)(value);
}

function candidatesIn(text: string): readonly string[] {
  const fenced = [...text.matchAll(/```\w*[^\S\n]*\n([^]*?)```/g)].map(([, inner = ""]) => inner);
  const begin = text.search(/[[{]/);
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  const outermost = begin !== -1 && end > begin ? [text.slice(begin, end + 1)] : [];
  return [text, ...fenced.slice(0, maxFences), ...outermost].map((each) => each.trim()).filter(Boolean);
}

/**
 * Told with every prompt whose answer may be the last: with tools offered a provider's own enforcement is left out, since
 * under it many models can't call any; and what enforces a grammar need not tell the model of it.
 */
export function formatInstructions(format: ResponseFormat): string {
  if (format.type === "json") return "Your final answer must be one JSON object and nothing else.";
  return `Your final answer must be JSON and nothing else, valid by this JSON Schema:\n${JSON.stringify(format.schema)}`;
}

/** Asks for the same answer once more, as it should be. */
export function repairMessages(draft: string, problems: readonly string[]): ModelMessage[] {
  return [
    ...(draft ? [{ role: "assistant" as const, content: draft }] : []),
    {
      role: "user",
      content: `That answer can't be used as it is: ${problems.join("; ")}. Give the same answer again as JSON of the required form, and write nothing but the JSON.`,
    },
  ];
}

export function formatInvalid(problems: readonly string[]): ColloquyError {
  return new ColloquyError(
    "format_invalid",
    422,
    `The answer does not have the format that was asked for, also after a second try: ${problems.join("; ")}.`,
  );
}
