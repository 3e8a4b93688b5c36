import type { ToolSchema } from "../../protocol/agents/models.ts";
import { plainSchema, propertiesOf, requiredOf, schemaInstance, typeOf } from "./schema-instance.ts";

type Input = Readonly<Record<string, unknown>>;
export type PlannedCall = { readonly tool: string; readonly input: Input };

/** What people ask of the built-in tools, in the page's languages. A named group is the argument of that name. */
const phrases: readonly (readonly [tool: string, phrase: RegExp])[] = [
  ["add_task", /^(?:add|create) (?:an? )?(?:new )?(?:task|todo)s?:? (?:to |called )?(?<title>.+)/i],
  ["add_task", /^(?:add|put) (?<title>.+) (?:to|on) my (?:tasks|list)$/i],
  ["add_task", /^(?:remind me to|new task:|neue aufgabe:) (?<title>.+)/i],
  ["list_tasks", /^(?:list|show|what are) .*(?<status>completed|pending) tasks/i],
  ["list_tasks", /^(?:list|show|what are|zeige) .*(?:tasks|todos|aufgaben)/i],
  ["complete_task", /^(?:complete|finish|mark|erledige) (?:the )?(?:task|aufgabe):? (?<task_id>.+?)(?: as done)?$/i],
  ["delete_task", /^(?:delete|remove|lösche) (?:the )?(?:task|aufgabe):? (?<task_id>.+)/i],
  ["update_task", /^(?:rename|change) (?:the )?task (?<task_id>.+?) to (?<title>.+)/i],
  ["write_file", /^(?:write|schreibe) (?:the file|die datei) (?<path>\S+) (?:with|mit) (?<content>.+)/i],
  ["read_file", /^(?:read|show|lies) (?:the file|die datei) (?<path>\S+)/i],
  ["list_files", /^(?:list|show|zeige) .*(?:files|dateien)/i],
  ["search_files", /^search (?:the |my )?files for (?<query>.+)/i],
  [
    "rag",
    /^(?:search|what|was) .*(?:documents|knowledge|collection|dokumenten?)\b(?: say of| say about| for)? (?<query>.+)/i,
  ],
  ["now", /^(?:what time is it|what(?:'s| is) the (?:time|date)|wie spät ist es)/i],
  ["calculate", /(?<expression>(?<![(\d.])\(*\d[\d.]*(?:\)* ?[-+*/^%] ?[-(]*\d[\d.]*)+\)*)/],
];

const isNamed = (tool: ToolSchema, name: string) => tool.name === name || tool.name.endsWith(`_${name}`);

/** The calls that a clause asks for; undefined: no tool fits. */
export function callsFor(clause: string, tools: readonly ToolSchema[]): readonly PlannedCall[] | undefined {
  const asked = clause.replaceAll(/^please |,? please[.!?]?$|[.!?]$/gi, "").replaceAll(/(?<=\d) plus (?=\d)/g, " + ");
  for (const [name, phrase] of phrases) {
    const tool = tools.find((each) => isNamed(each, name));
    const found = tool && phrase.exec(asked);
    if (found) return inputsOf(found.groups ?? {}).map((input) => ({ tool: tool.name, input }));
  }
  const tool = toolSpokenOf(asked, tools);
  if (!tool || (takesExactText(tool) && quotedIn(asked).length === 0)) return undefined;
  return [{ tool: tool.name, input: argumentsFrom(asked, tool) }];
}

/** A program or a path can't be guessed from a sentence: it must stand there in quotes. */
function takesExactText({ parameters }: ToolSchema): boolean {
  return requiredOf(parameters).some((name) => /^(?:code|cmd|command|script|path)$/.test(name));
}

/** Several titles in quotation marks are a call each. */
function inputsOf(groups: Readonly<Record<string, string>>): readonly Input[] {
  const titles = quotedIn(groups["title"] ?? "");
  const inputs = titles.length > 1 ? titles.map((title) => ({ ...groups, title })) : [groups];
  return inputs.map((input) =>
    Object.fromEntries(Object.entries(input).map(([name, text]) => [name, valueOf(name, quotedIn(text)[0] ?? text)])),
  );
}

function valueOf(name: string, text: string): string | number {
  if (name === "task_id" && /^#?\d+$/.test(text)) return Number(text.replace("#", ""));
  return name === "title" ? text[0]!.toUpperCase() + text.slice(1) : text;
}

function quotedIn(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]+)"|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)/g)].map((match) =>
    match.slice(1).find(Boolean)!,
  );
}

/** Of the other tools the one whose name and description share most words with what is asked. */
function toolSpokenOf(asked: string, tools: readonly ToolSchema[]): ToolSchema | undefined {
  const said = wordsOf(asked);
  const rated = tools.map((tool) => {
    const name = wordsOf(tool.name.replace(/^(?:get|run)_/, ""));
    const share = name.filter((word) => said.includes(word)).length / name.length;
    const described = wordsOf(tool.description).filter((word) => word.length > 3 && said.includes(word)).length;
    const isBuiltIn = phrases.some(([known]) => isNamed(tool, known));
    return { tool, score: isBuiltIn || share === 0 ? 0 : share + described / 4 };
  });
  return rated.sort((one, other) => other.score - one.score).find(({ score }) => score >= 1)?.tool;
}

export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Arguments by the tool's schema alone: each text and number that is said in the first place that takes it. */
export function argumentsFrom(asked: string, { parameters }: ToolSchema): Input {
  const [, content = asked] = /(?: in| for| of| to| about|:) (.+)/.exec(asked) ?? [];
  const texts = quotedIn(asked).length > 0 ? [...quotedIn(asked)] : [content];
  const numbers = (asked.match(/(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])/g) ?? []).map(Number);
  const required = requiredOf(parameters);
  const values = Object.entries(propertiesOf(parameters)).map(([name, schema]): [string, unknown] => {
    const plain = plainSchema(schema, parameters);
    const choices: readonly unknown[] = [plain["enum"] ?? []].flat();
    const chosen = choices.find((choice) => wordsOf(asked).includes(String(choice).toLowerCase()));
    if (chosen !== undefined || !required.includes(name)) return [name, chosen];
    const isNumber = typeOf(plain) === "integer" || typeOf(plain) === "number";
    const isText = typeOf(plain) === "string" && choices.length === 0;
    return [name, (isNumber ? numbers : isText ? texts : []).shift() ?? schemaInstance(schema, parameters)];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}
