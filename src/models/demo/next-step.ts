import type { ToolSchema } from "../../protocol/agents/models.ts";
import { argumentsFrom, callsFor, wordsOf, type PlannedCall } from "./tool-calls.ts";

export const label = "(demo model, rule-based)";

export type CallResult = { readonly name: string; readonly content: string; readonly isError: boolean };

export type DemoTask = {
  /** What a person asks for, with all that came with it. */
  readonly said: string;
  readonly tools: readonly ToolSchema[];
  /** What its calls have brought so far. */
  readonly results: readonly CallResult[];
  /** Some tool must be called, whether one fits or not. */
  readonly forced?: boolean;
  /** What it doesn't understand it doesn't quote. */
  readonly brief?: boolean;
};

/** `done`: whether the text is what the calls have brought. */
export type DemoStep = { readonly calls: readonly PlannedCall[] } | { readonly text: string; readonly done: boolean };

export function nextStep({ said, tools, results, forced, brief }: DemoTask): DemoStep {
  const failed = results.some(({ isError }) => isError);
  let done = 0;
  for (const clause of failed ? [] : clausesOf(said)) {
    let calls = callsFor(clause, tools) ?? [];
    const title = calls[0]?.input["task_id"];
    if (typeof title === "string") {
      const lister = tools.find(({ name }) => name.endsWith("list_tasks"));
      const listing = results[done++];
      if (lister && !listing) return { calls: [{ tool: lister.name, input: {} }] };
      const number = listing && numberIn(listing, title);
      if (number === undefined) return { text: `I could not find what you mean by "${title}".`, done: false };
      calls = calls.map(({ tool, input }) => ({ tool, input: { ...input, task_id: number } }));
    }
    const open = calls.slice(Math.max(0, results.length - done));
    if (open.length > 0) return { calls: open };
    done += calls.length;
  }
  if (results.length > 0) return { text: textOfResults(results), done: !failed };
  const [first] = tools;
  if (forced && first) return { calls: [{ tool: first.name, input: argumentsFrom(sentenceOf(said), first) }] };
  return { text: introduction(tools, brief ? undefined : sentenceOf(said)), done: false };
}

/** "add milk, then list my tasks" are two wishes. */
export function clausesOf(said: string): readonly string[] {
  // What stands in quotes, such as a command, is one word.
  const quoted: string[] = [];
  const sentence = sentenceOf(said.replaceAll("\0", "")).replaceAll(
    /(?<!\w)(?:'[^']*'|"[^"]*")(?!\w)/g,
    (text) => `\0${quoted.push(text) - 1}\0`,
  );
  return sentence
    .split(/[,;.]? (?:and )?(?:then|dann) |; | and (?=(?:add|list|show|complete|delete|calculate|what) )/i)
    .map((clause) => clause.replaceAll(/\0(\d+)\0/g, (_, index: string) => quoted[Number(index)]!));
}

/** Longer texts are no wishes that rules could follow, and the patterns would take long over them. */
const longestSentence = 2000;

/** In one line; a file that came with it is named by where it is. */
function sentenceOf(said: string): string {
  const [text = "", ...files] = said.split("<attached-file>\n");
  const sentence = text.replaceAll(/\s+/g, " ").trim().slice(0, longestSentence);
  const places = files.flatMap((file) => [...file.matchAll(/^File: (.+)\nPath: (.+) \(in the workspace\)$/gm)]);
  return places.reduce((placed, [, name = "", path = ""]) => placed.replace(name, path), sentence);
}

/** What can be tried, by the tool that it takes. */
const samples: readonly (readonly [tool: RegExp, sentence: string])[] = [
  [/(?:^|_)add_task$/, "add a task to buy milk"],
  [/^list_files$/, "list the files"],
  [/^bash$/, "run the bash command 'ls -a'"],
];

/** What it says where no rule fits. */
function introduction(tools: readonly ToolSchema[], sentence: string | undefined): string {
  const [, sample] = samples.find(([tool]) => tools.some(({ name }) => tool.test(name))) ?? [];
  const advice = "I follow rules and understand little; configure a real model for more.";
  const attempt = sample === undefined ? "" : ` Try "${sample}".`;
  if (sentence === undefined) return advice + attempt;
  const names = tools.map(({ name }) => name).join(", ");
  const offer = names === "" ? "In this step no tools are offered to me." : `I can use these tools: ${names}.`;
  // Whom it quotes it does not call.
  return `You said: "${sentence.slice(0, 500).replaceAll("@", "")}". ${advice} ${offer}${attempt}`;
}

/** The number that a listing gives to a title. */
function numberIn(listing: CallResult, title: string): number | undefined {
  const lines = resultText(listing).split("\n");
  const line = lines.find((each) => wordsOf(title).every((word) => wordsOf(each).includes(word)));
  const [, number] = (line && (/\(no\. (\d+)/.exec(line) ?? /^\W*(\d+)/.exec(line))) || [];
  return number === undefined ? undefined : Number(number);
}

export function textOfResults(results: readonly CallResult[]): string {
  const texts = results.map((result) => resultText(result));
  return texts.map((text) => (text.length > 2000 ? `${text.slice(0, 2000)} …` : text)).join("\n\n");
}

/** A tool's result in words: JSON becomes lines that a person reads, and other lines stay lines in Markdown. */
function resultText({ name, content, isError }: CallResult): string {
  if (isError) return `${name} failed: ${content}`;
  const value = parsed(content);
  // Of `rag`: how a model is to cite.
  const text = content.replace(/\n\nPut the number of the passage behind each statement .*/, "");
  if (typeof value !== "object" || value === null) return text.replaceAll(/(?<=\S)\n(?=\S)/g, "  \n");
  const told = described(value);
  const deed = name.replaceAll("_", " ");
  return `${deed[0]!.toUpperCase()}${deed.slice(1)}:${told.startsWith("- ") ? "\n" : " "}${told}`;
}

function described(value: unknown): string {
  if (Array.isArray(value)) return value.map((entry) => `- ${described(entry)}`).join("\n") || "nothing";
  if (typeof value !== "object" || value === null) return String(value);
  const { id, title, status } = value as Readonly<Record<string, unknown>>;
  const details = [id === undefined ? [] : `no. ${String(id)}`, status ?? []].flat().join(", ");
  if (title !== undefined) return details === "" ? String(title) : `${String(title)} (${details})`;
  const fields = Object.entries(value);
  if (fields.length === 1 && typeof fields[0]![1] === "object") return described(fields[0]![1]);
  return fields.map(([name, field]) => `${name} ${described(field)}`).join(", ");
}

export function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
