import type { ToolSchema } from "../../protocol/agents/models.ts";
import { argumentsFrom, contentOf, quotedIn } from "./arguments.ts";
import { chooseTool, verbOf, nameWords, thingWords, wordsOf } from "./choose-tool.ts";
import { propertiesOf, requiredOf } from "./schema-instance.ts";

export type PlannedCall = { readonly tool: string; readonly input: Readonly<Record<string, unknown>> };
export type CallResult = { readonly name: string; readonly content: string; readonly isError: boolean };

/** What was asked, and what was done of it. */
export type DemoRequest = {
  readonly sentence: string;
  readonly tools: readonly ToolSchema[];
  /** Of each round so far its first call. */
  readonly rounds: readonly string[];
  readonly results: readonly CallResult[];
  /** Some tool must be called, whether one fits or not. */
  readonly forced?: boolean;
};

/** `done`: whether that is what the results say; else nothing fits, or something failed. */
export type DemoStep = { readonly calls: readonly PlannedCall[] } | { readonly text: string; readonly done: boolean };

type ToolMatch = { readonly clause: string; readonly tool: ToolSchema };

/** What a sentence asks for that a tool can do, in order. */
export function matchTools(sentence: string, tools: readonly ToolSchema[], forced = false): readonly ToolMatch[] {
  return clausesOf(sentence).flatMap((clause) => {
    const tool = chooseTool(clause, tools) ?? (forced ? tools[0] : undefined);
    return tool ? [{ clause, tool }] : [];
  });
}

/** What to do next; undefined if there is nothing that a tool fits. */
export function nextStep({ sentence, tools, rounds, results, forced = false }: DemoRequest): DemoStep | undefined {
  const wishes = matchTools(sentence, tools, forced);
  let done = 0;
  for (const name of rounds) if (name === wishes[done]?.tool.name) done++;
  const failed = results.some((result) => result.isError);
  const wish = wishes[done];
  if (wish && !failed) {
    const calls = callsFor(wish.clause, wish.tool, { tools, looked: results.at(-1), mayLook: rounds.length === done });
    if (calls) return { calls };
    return { text: `I could not find what you mean by "${contentOf(wish.clause, wish.tool)}".`, done: false };
  }
  return results.length > 0 ? { text: results.map(resultText).join("\n\n"), done: !failed } : undefined;
}

/** "add milk, then list my tasks" are two wishes. */
function clausesOf(sentence: string): readonly string[] {
  const verbs = "add|create|list|show|complete|finish|delete|remove|update|rename|calculate|compute|search|tell|what";
  return sentence
    .split(
      new RegExp(
        `\\s*(?:[,;.]?\\s+and then\\s+|[,;.]\\s*(?:then|dann)\\s+|\\s+(?:then|dann)\\s+|;\\s*|[,.!?]?\\s+and\\s+(?=(?:${verbs})\\b)|[.!?]\\s+(?=\\p{Lu}))`,
        "u",
      ),
    )
    .map((clause) => clause.trim())
    .filter(Boolean);
}

type DemoContext = {
  readonly tools: readonly ToolSchema[];
  readonly looked: CallResult | undefined;
  readonly mayLook: boolean;
};

/** The calls one wish needs now: itself, or first a look for the number of what it names. Undefined: not to be found. */
function callsFor(
  clause: string,
  tool: ToolSchema,
  { tools, looked, mayLook }: DemoContext,
): readonly PlannedCall[] | undefined {
  const key = numberKey(tool);
  const named = /(?<![\w.])#?\d+(?!\w|\.[\w.]*\w)/.test(clause);
  if (key !== undefined && !named) {
    const lister = tools.find(
      (other) => nameWords(other.name).some((word) => verbOf(word)?.[0] === "list") && sameThings(other, tool),
    );
    if (lister && mayLook) return [{ tool: lister.name, input: {} }];
    const number = looked && numberIn(looked.content, [...quotedIn(clause), contentOf(clause, tool)]);
    return number === undefined ? undefined : [{ tool: tool.name, input: { [key]: number } }];
  }
  const quoted = quotedIn(clause);
  // Several things in quotation marks for a tool that takes one: a call for each.
  if (quoted.length > 1 && requiredOf(tool.parameters).length === 1 && key === undefined) {
    return quoted.map((text) => ({ tool: tool.name, input: argumentsFrom(clause, tool, [text]) }));
  }
  return [{ tool: tool.name, input: argumentsFrom(clause, tool) }];
}

/** The property that names a thing by its number, if the tool demands one. */
function numberKey(tool: ToolSchema): string | undefined {
  return requiredOf(tool.parameters).find((name) => {
    const property = propertiesOf(tool.parameters)[name] as { type?: unknown } | undefined;
    return /(^|_)(id|number|no)$|Id$/.test(name) && (property?.type === "integer" || property?.type === "number");
  });
}

function sameThings(one: ToolSchema, other: ToolSchema): boolean {
  return thingWords(one).some((word) => thingWords(other).includes(word));
}

/** The number that stands before a title in a listing, as JSON or as lines. */
function numberIn(listing: string, titles: readonly string[]): number | undefined {
  const rows = [
    ...listing.matchAll(
      /"id"\s*:\s*(\d{1,15})(?!\d)(?:(?!"id")[^{}])*?"title"\s*:\s*"((?:[^"\\]|\\.)*)"|^\D{0,8}?(\d+)\W+(.+)$/gm,
    ),
  ];
  for (const title of titles) {
    const wanted = wordsOf(title);
    const row = rows.find((match) => {
      const words = wordsOf(match[2] ?? match[4] ?? "");
      return wanted.length > 0 && wanted.every((word) => words.includes(word));
    });
    if (row) return Number(row[1] ?? row[3]);
  }
  return undefined;
}

export function resultText({ name, content, isError }: CallResult): string {
  return isError ? `${name} failed: ${content.slice(0, 2000)}` : tellResult(name, content);
}

const most = 2000;
/** Of `rag`: how a model is to cite. */
const adviceToModels = /\n\nPut the number of the passage behind each statement .*/;

/** A tool's result in words: JSON becomes lines that a person reads, anything else stays as it is. */
function tellResult(tool: string, content: string): string {
  const value = parsed(content);
  if (typeof value !== "object" || value === null) return shortened(withLines(content.replace(adviceToModels, "")));
  const text = described(value);
  return shortened(`${deed(tool)}:${text.startsWith("- ") ? "\n" : " "}${text}`);
}

/** Lines stay lines in Markdown too. */
function withLines(text: string): string {
  return text.includes("```") ? text : text.replaceAll(/(?<=\S)\n(?=\S)/g, "  \n");
}

/** `add_task` → "Add task". */
function deed(tool: string): string {
  const words = tool.replace(/[_.-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function described(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 0 ? "nothing" : value.map((entry) => `- ${described(entry)}`).join("\n");
  if (typeof value !== "object" || value === null) return String(value);
  const entries = Object.entries(value).filter(([, field]) => field !== "" && field !== null);
  const [only] = entries;
  if (entries.length === 1 && typeof only![1] === "object") return described(only![1]);
  const title = entries.find(([name]) => /^(title|name|subject|text|answer)$/.test(name));
  if (!title) return entries.map(([name, field]) => `${name} ${described(field)}`).join(", ");
  const details = entries
    .filter(([name]) => /^(id|status|state)$/.test(name))
    .map(([name, field]) => (name === "id" ? `no. ${String(field)}` : String(field)));
  return details.length === 0 ? String(title[1]) : `${String(title[1])} (${details.join(", ")})`;
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

function shortened(text: string): string {
  return text.length > most ? `${text.slice(0, most)} …` : text;
}
