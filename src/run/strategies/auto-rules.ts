import { patternOf, sourceOf } from "./auto-patterns.ts";
import * as signs from "./auto-phrases.ts";

export type AutoRequest = {
  readonly text: string;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly hasFiles?: boolean;
  /** Messages of people in the conversation, this one included; absent: not known. */
  readonly turns?: number;
};

/** `sure: false`: a model should be asked; nothing speaks plainly for a tool, and `chat` is only what is left. */
export type StrategyChoice = {
  readonly strategy: "chat" | "tools" | "react" | "plan-execute";
  readonly reason: string;
  readonly sure: boolean;
};

type RequestFeatures = {
  /** What is asked for, without pasted material and courtesies; lower case. */
  readonly task: string;
  readonly clauses: readonly string[];
  /** A sign that only a tool can do this. */
  readonly tool: string | undefined;
  /** A sign of something recent. */
  readonly fresh: string | undefined;
  readonly request: AutoRequest;
};

type StrategyRule = (view: RequestFeatures) => StrategyChoice | undefined;

/** The first that knows decides. */
const rules: readonly StrategyRule[] = [
  ({ request }) => (request.tools.length === 0 ? sure("chat", "The agent has no tools.") : undefined),
  isPolite,
  ({ task }) => because("plan-execute", "It names a work of many parts", found(task, signs.bigWork)),
  writes,
  severalParts,
  ({ task }) => because("react", "Each finding decides the next step", found(task, signs.investigation)),
  comparesFacts,
  ({ task, tool, fresh }) =>
    tool || fresh
      ? because("react", "It asks for a cause that has to be found", found(task, signs.whyQuestion))
      : undefined,
  ({ tool, request }) =>
    !tool && request.text.includes("```") ? sure("chat", "It is about code that is given.") : undefined,
  ({ tool }) => (tool ? sure("tools", `It asks for ${tool}.`) : undefined),
  ({ task }) => because("chat", "It is set in a story", found(task, signs.fiction)),
  rewritesAnswer,
  talks,
  ({ fresh }) => because("tools", "The answer may be recent, or known to the user alone", fresh),
  ({ task }) => because("chat", "It asks for general knowledge", found(task, signs.knowledge)),
  ({ task, request }) => because("tools", "It speaks of what a tool is for", namedTool(task, request.tools)),
  goesOn,
];

/** Which strategy fits a request, by its words alone. What may need a tool never goes to `chat`. */
export function chooseByRules(request: AutoRequest): StrategyChoice {
  const view = viewOf(request);
  for (const rule of rules) {
    const choice = rule(view);
    if (choice) return choice;
  }
  return { strategy: "chat", reason: "No rule fits.", sure: false };
}

/** Nothing but a greeting or thanks; an "ok" in a conversation may be the answer to "Shall I delete it?". */
function isPolite({ task, tool, request: { text, turns = 1 } }: RequestFeatures): StrategyChoice | undefined {
  if (tool || /[\p{L}\p{N}]/u.test(task)) return undefined;
  const agreed = turns > 1 ? found(shortened(text).toLowerCase(), signs.agreement) : undefined;
  return because("tools", "It may agree to something", agreed) ?? sure("chat", "Nothing is asked for.");
}

function severalParts({ task, clauses, tool }: RequestFeatures): StrategyChoice | undefined {
  if (!tool) return undefined;
  const actions = clauses.filter((clause) => actionOf(clause) !== undefined).length;
  const sequence = signs.order.filter((words) => found(task, words)).length;
  const items = task.match(signs.listItem)?.length ?? 0;
  const results = new Set(task.match(patternOf(signs.results))).size;
  const connected = sequence >= 2 || found(task, signs.many) !== undefined;
  if (actions >= 3 || (actions >= 2 && connected)) return sure("plan-execute", `It has ${actions} things to do.`);
  if (items >= 3 && actions >= 1) return sure("plan-execute", `It lists ${items} parts.`);
  return results >= 3 ? sure("plan-execute", `It wants ${results} different results.`) : undefined;
}

function comparesFacts({ task, fresh }: RequestFeatures): StrategyChoice | undefined {
  return fresh
    ? because("react", "It compares what has to be looked up first", found(task, signs.comparison))
    : undefined;
}

/** Texts that are given, or made from nothing. With something recent in them nobody can tell: "a poem about today's match". */
function writes({ task, tool, fresh }: RequestFeatures): StrategyChoice | undefined {
  if (tool) return undefined;
  const sign = found(task, signs.textWork) ?? found(task, signs.creative);
  const choice = because("chat", "It is about words", sign);
  return choice && { ...choice, sure: !fresh && !found(task, signs.factual) };
}

function talks({ task, fresh }: RequestFeatures): StrategyChoice | undefined {
  const choice = because("chat", "It is talk", found(task, signs.talk) ?? found(task, signs.opinion));
  return choice && { ...choice, sure: fresh === undefined };
}

function rewritesAnswer(view: RequestFeatures): StrategyChoice | undefined {
  return isFollowUp(view) && !view.fresh
    ? because("chat", "It is about the last answer", found(view.task, signs.rewriting))
    : undefined;
}

function goesOn(view: RequestFeatures): StrategyChoice | undefined {
  return isFollowUp(view)
    ? because("tools", "It goes on with what was done before", found(view.task, signs.repeating))
    : undefined;
}

/** A few words that live on what was said before. */
function isFollowUp({ task, request: { turns = 1 } }: RequestFeatures): boolean {
  return turns > 1 && (task.match(/\p{Script=Han}|[\p{L}\p{N}]+/gu) ?? []).length <= 6;
}

function viewOf(request: AutoRequest): RequestFeatures {
  const task = taskOf(request.text);
  const clauses = clausesOf(task);
  const sign = signs.toolSigns.find(({ words, unless }) => found(task, words) && !(unless && found(task, unless)));
  const action = clauses.map(actionOf).find((each) => each?.needsTool);
  const tool =
    (sign && `${sign.reason}: “${found(task, sign.words)}”`) ??
    (action && `something to be done: “${action.verb}”`) ??
    (request.hasFiles ? "work on a file" : undefined);
  return { task, clauses, tool, fresh: found(task, signs.fresh), request };
}

/** What is to be worked on must be fetched first. */
const source = /^(?:https?:\/\/\S+|[\p{L}\p{N}_-]+\.\p{L}{2,4})(?:\s|$)/u;

/** Code, lines of an earlier message, and what stands between any quotation marks. */
const material =
  /```[^]*?(?:```|$(?![^]))|`[^`\n]*`|^>[^\n]*|"[^"]*"|(?<=^|\s)'[^'\n]+'(?=[\s.,;:?!]|$)|„[^„“”]*[“”]|“[^“”]*”|«[^«»]*»|「[^「」]*」/gm;

/** Quotations, code and what follows "Translate:" are material; they ask for nothing. */
function taskOf(text: string): string {
  const asked = shortened(text)
    .toLowerCase()
    // Spaces without end would make the search slow.
    .replaceAll(/[^\S\n]+/g, " ")
    .replaceAll("\u0307", "")
    .replaceAll("’", "'")
    .replaceAll(material, " ")
    .replaceAll(patternOf(signs.negations), " ")
    .replaceAll(patternOf(signs.courtesies), " ")
    .trim();
  const [, head = asked, rest = ""] = /^(.*?)(?:[:：]|\n *\n)\s*(.*)$/s.exec(asked) ?? [];
  const isMaterial = found(head, signs.textWork) !== undefined && !source.test(rest);
  return isMaterial ? head : asked;
}

/** Beginning and end: what is wanted stands before or after a long text. */
export function shortened(text: string): string {
  const ends = [text.slice(0, maxCharacters), text.slice(-maxCharacters)];
  return text.length > 2 * maxCharacters ? ends.join("\n…\n") : text;
}

const maxCharacters = 2000;

let joints: RegExp | undefined;
const jointsNow = (): RegExp =>
  (joints ??= new RegExp(
    `[\\n,.;:!?。，；：！？、]|(?<!\\p{L})(?:and|und|y|et|и|ve)(?!\\p{L})|${signs.order.map(sourceOf).join("|")}`,
    "gu",
  ));
const fillers = /^(?:[\s\d)*•-]+|(?:also|mir|me|us|step|schritt)(?!\p{L})|[并和])+/u;

function clausesOf(task: string): string[] {
  return task
    .split(jointsNow())
    .map((clause) => clause.replace(fillers, "").trim())
    .filter((clause) => clause !== "");
}

const wordsIn = (lists: signs.Phrases): ReadonlySet<string> => new Set(lists.flatMap((list) => list.split(" ")));
const toolVerbs = wordsIn(signs.verbs.tool);
const makeVerbs = wordsIn(signs.verbs.make);
const endVerbs = wordsIn(signs.verbs.ends);

/** What a clause tells to do, if it does. */
function actionOf(clause: string): { readonly verb: string; readonly needsTool: boolean } | undefined {
  const words = clause.split(/\s+/);
  const [first = ""] = words;
  const last = words.at(-1) ?? first;
  if (toolVerbs.has(first)) return { verb: first, needsTool: true };
  if (makeVerbs.has(first)) return { verb: first, needsTool: false };
  if (endVerbs.has(last)) return { verb: last, needsTool: true };
  const chinese = signs.verbs.chinese.exec(clause);
  return chinese ? { verb: chinese[0], needsTool: false } : undefined;
}

/** A word of the request that is part of a tool's name. */
function namedTool(task: string, tools: AutoRequest["tools"]): string | undefined {
  const asked = new Set(task.match(/\p{L}{4,}/gu)?.map(stem));
  const names = tools.flatMap(({ name }) => name.toLowerCase().match(/\p{L}{4,}/gu) ?? []);
  return names.find((name) => asked.has(stem(name)) && !everyday.has(name));
}

/** Said of many things. */
const everyday: ReadonlySet<string> = new Set("make list read find work time page show search".split(" "));

function stem(word: string): string {
  return word.replace(/(?:ings?|ies|es|s|ed|e)$/, "").slice(0, 7);
}

function found(text: string, words: RegExp | signs.Phrases): string | undefined {
  return text.match(patternOf(words))?.[0].trim().replaceAll(/\s+/g, " ");
}

function because(
  strategy: StrategyChoice["strategy"],
  reason: string,
  sign: string | undefined,
): StrategyChoice | undefined {
  return sign === undefined ? undefined : sure(strategy, `${reason}: “${sign}”.`);
}

function sure(strategy: StrategyChoice["strategy"], reason: string): StrategyChoice {
  return { strategy, reason, sure: true };
}
