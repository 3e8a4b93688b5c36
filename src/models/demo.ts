import { setImmediate as nextTurn } from "node:timers/promises";
import { ModelError } from "../protocol/errors.ts";
import type { ModelMessage, ModelRequest, ModelStream, ToolSchema } from "../protocol/models.ts";
import type { Adapter } from "./adapter.ts";
import { AnswerWriter } from "./answer.ts";
import { argumentsFrom, contentOf, quotedIn } from "./demo-arguments.ts";
import { chooseTool, deedOf, nameWords, thingWords, wordsOf } from "./demo-choice.ts";
import { tellResult } from "./demo-tell.ts";
import { propertiesOf, requiredOf, schemaInstance } from "./schema-instance.ts";

const label = "(demo model, rule-based)";
const samplesOnly =
  "I am the demo model and understand nothing: these values only have the shape that was asked for. Configure a real model for real ones.";

/** Whoever is told to watch, and to speak of real problems only, sees none by rules. */
const mayPass = /^\[pass\]$/m;

/** Longer texts are no wishes that rules could follow, and the patterns would take long over them. */
const longestSentence = 2000;

/** Answers by rules, without a language model, and drives real tools: so that everything works with nothing installed. */
export function createDemo(): Adapter {
  async function* stream(request: ModelRequest, signal: AbortSignal): ModelStream {
    const answer = new AnswerWriter(request);
    const plan = planFor(request);
    if ("calls" in plan) {
      for (const call of plan.calls) answer.callArguments(answer.startCall(call.tool), JSON.stringify(call.input));
      answer.finish("calls", undefined);
      yield answer.take();
      return;
    }
    if (plan.aside) answer.reasoning(plan.aside);
    for (const piece of piecesOf(plan.text)) {
      if (signal.aborted) throw new ModelError("aborted", 'Model "demo": stopped by us');
      answer.text(piece);
      yield answer.take();
      await nextTurn();
    }
    answer.finish("stop", undefined);
    yield answer.take();
  }
  return { provider: "demo", name: "demo", contextTokens: 128_000, demo: true, stream };
}

type Call = { readonly tool: string; readonly input: Readonly<Record<string, unknown>> };
/** `aside`: what must be said beside a text that has no room for it. */
type Plan = { readonly calls: readonly Call[] } | { readonly text: string; readonly aside?: string };
type Result = { readonly name: string; readonly content: string; readonly isError: boolean };

/** What to do next, seen from the last thing a person said and what was done since. */
function planFor(request: ModelRequest): Plan {
  if (request.messages.some((message) => message.role === "system" && mayPass.test(textOf(message))))
    return { text: "[pass]" };
  const asked = request.messages.findLastIndex((message) => message.role === "user");
  const { said, files } = saidIn(textOf(request.messages[asked]));
  const sentence = said.replaceAll(/\s+/g, " ").trim().slice(0, longestSentence);
  if (isReActPrompt(textOf(request.messages[asked]))) {
    const question = textOf(request.messages[asked]).split("\n\n", 1)[0]!;
    return { text: `Thought: I follow rules.\nFinal Answer: ${introduction(question.slice(0, longestSentence), [])}` };
  }
  const since = request.messages.slice(asked + 1);
  const results = since.flatMap((message) => (message.role === "tool" ? [resultOf(message)] : []));
  const tools = offered(request);
  const forced = request.toolChoice !== undefined && request.toolChoice !== "auto" && request.toolChoice !== "none";
  const wishes = clausesOf(sentence).flatMap((clause) => {
    const tool = chooseTool(clause, tools) ?? (forced ? tools[0] : undefined);
    return tool ? [{ clause, tool }] : [];
  });

  const rounds = since.flatMap((message) =>
    message.role === "assistant" && message.calls?.length ? [message.calls[0]!.name] : [],
  );
  let done = 0;
  for (const name of rounds) if (name === wishes[done]?.tool.name) done++;
  const failed = results.some((result) => result.isError);
  const wish = wishes[done];
  if (wish && !failed) {
    const calls = callsFor(wish.clause, wish.tool, { tools, looked: results.at(-1), mayLook: rounds.length === done });
    if (calls) return { calls: calls.map(({ tool, input }) => ({ tool, input: withPaths(input, files) })) };
    return finalText(request, `I could not find what you mean by "${contentOf(wish.clause, wish.tool)}".`);
  }
  if (results.length > 0) return finalText(request, results.map(tell).join("\n\n"));
  return finalText(request, introduction(sentence, tools));
}

/** What was written, without what is told of files that came with it; and where these are, by their names. */
function saidIn(text: string): { readonly said: string; readonly files: ReadonlyMap<string, string> } {
  const places = text.matchAll(/^<attached-file>\nFile: (.+)\nPath: (.+) \(in the workspace\)$/gm);
  return {
    said: text.replaceAll(/^<attached-file>\n[\s\S]*?\n<\/attached-file>$/gm, ""),
    files: new Map([...places].map(([, name = "", path = ""]) => [name, path])),
  };
}

/** Whoever names a file that came with the message means it where it is. */
function withPaths(input: Call["input"], files: ReadonlyMap<string, string>): Call["input"] {
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [key, (typeof value === "string" && files.get(value)) || value]),
  );
}

/** Asks for lines of thought and action, which are beyond rules: the request is what the text begins with. */
function isReActPrompt(text: string): boolean {
  return /^Action Input:/m.test(text) && /^Final Answer:/m.test(text);
}

function offered(request: ModelRequest): readonly ToolSchema[] {
  const { tools = [], toolChoice } = request;
  if (toolChoice === "none") return [];
  return typeof toolChoice === "object" ? tools.filter(({ name }) => name === toolChoice.name) : tools;
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

type Surroundings = {
  readonly tools: readonly ToolSchema[];
  readonly looked: Result | undefined;
  readonly mayLook: boolean;
};

/** The calls one wish needs now: itself, or first a look for the number of what it names. Undefined: not to be found. */
function callsFor(
  clause: string,
  tool: ToolSchema,
  { tools, looked, mayLook }: Surroundings,
): readonly Call[] | undefined {
  const key = numberKey(tool);
  const named = /(?<![\w.])#?\d+(?![\w.]*\w)/.test(clause);
  if (key !== undefined && !named) {
    const lister = tools.find(
      (other) => nameWords(other.name).some((word) => deedOf(word)?.[0] === "list") && sameThings(other, tool),
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
    ...listing.matchAll(/"id"\s*:\s*(\d+)[^{}]*?"title"\s*:\s*"((?:[^"\\]|\\.)*)"|^\D{0,8}?(\d+)\W+(.+)$/gm),
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

function finalText(request: ModelRequest, text: string): Plan {
  const { format } = request;
  if (format?.type === "json-schema") {
    const instance = schemaInstance(format.schema);
    // A plain text by that name is where an answer belongs.
    const isPlace = JSON.stringify(propertiesOf(format.schema)["answer"]) === '{"type":"string"}';
    const filled = isPlace ? { ...Object(instance), answer: `${text}\n\n${label}` } : instance;
    return { text: JSON.stringify(filled), aside: samplesOnly };
  }
  if (format?.type === "json") return { text: JSON.stringify({ answer: text, by: label }) };
  return { text: `${text}\n\n${label}` };
}

function tell({ name, content, isError }: Result): string {
  return isError ? `${name} failed: ${content.slice(0, 2000)}` : tellResult(name, content);
}

function introduction(sentence: string, tools: readonly ToolSchema[]): string {
  const names = tools.map(({ name }) => name).join(", ");
  const can =
    names === ""
      ? "No tools are offered to me here."
      : `I can use these tools: ${names}. Try "add a task to buy milk".`;
  // Whom it quotes it does not call.
  const quoted = sentence.slice(0, 500).replaceAll("@", "");
  return `You said: "${quoted}". I follow rules and understand little; configure a real model for more. ${can}`;
}

/** Pieces of a few words, as a model would stream them. */
function piecesOf(text: string): readonly string[] {
  return text.match(/(?:\S+\s*){1,4}/g) ?? [text];
}

function textOf(message: ModelMessage | undefined): string {
  if (message === undefined) return "";
  if (typeof message.content === "string") return message.content;
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join(" ");
}

function resultOf(message: Extract<ModelMessage, { role: "tool" }>): Result {
  return { name: message.name, content: message.content, isError: message.isError ?? false };
}
