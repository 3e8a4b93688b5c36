import type { ToolSchema } from "../../protocol/agents/models.ts";

/** The samples of the page are in its two languages. */
const german = (words: string): readonly string[] => words.split(" ");

/** Words that mean the same deed; the first is its name. */
const deeds: readonly (readonly string[])[] = [
  [
    "add",
    "create",
    "new",
    "make",
    "remember",
    "remind",
    "note",
    "put",
    "insert",
    "schedule",
    ...german("neue füge erstelle merke notiere"),
  ],
  ["list", "show", "display", "see", "view", "get", "read", "fetch", ...german("zeige liste lies")],
  [
    "complete",
    "completed",
    "done",
    "finish",
    "finished",
    "tick",
    "check",
    "close",
    "mark",
    ...german("erledige erledigt abgeschlossen"),
  ],
  ["delete", "remove", "drop", "erase", "forget", "discard", ...german("lösche entferne")],
  ["update", "change", "rename", "edit", "modify", "set", "move", ...german("ändere")],
  ["search", "find", "look", "google", ...german("suche finde")],
  ["calculate", "compute", "calculator", "calc", "evaluate", "sum", ...german("berechne rechne")],
  ["now", "time", "date", "today", "clock", "day", "hour", ...german("uhrzeit spät heute")],
  ["send", "mail", "post", "write", ...german("sende schreibe")],
];
/** Words that only hint: half of all questions have them. */
const weakWords = new Set([
  "what",
  "which",
  "show",
  "see",
  "get",
  "set",
  "tell",
  "all",
  "have",
  "new",
  "make",
  "check",
  "look",
  "day",
]);
const sameThing: Readonly<Record<string, readonly string[]>> = {
  task: ["task", "todo", "to-do", "item", "chore", "reminder", "list", ...german("aufgabe aufgaben")],
  file: ["file", "datei"],
};

const enough = 4;

/** Lower-case words, plurals as singulars. */
export function wordsOf(text: string): readonly string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}-]*/gu) ?? []).map(singular);
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}

/** The words of a tool's name: `addTask`, `add_task` and `add-task` are add, task. */
export function nameWords(name: string): readonly string[] {
  return wordsOf(name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll(/[_.-]+/g, " "));
}

export function verbOf(word: string): readonly string[] | undefined {
  return deeds.find((deed) => deed.includes(word));
}

/** All words that mean the thing a tool is about. */
export function thingWords(tool: ToolSchema): readonly string[] {
  return nameWords(tool.name).flatMap((word) => (verbOf(word) ? [] : (sameThing[word] ?? [word])));
}

export function isArithmetic(text: string): boolean {
  return /\d\s*(?:[-+*/^×÷%]|plus|minus|times|divided by|x)\s*\(?-?\d/i.test(text);
}

/** "put eggs on my list" names a thing, not the deed of listing. */
const listAsThing = /\b(?:on|to|in|from)\s+(?:my|the|our)\s+(?:[\w-]+\s+)?list\b/i;

/** What people keep in collections, and not in the files of a conversation. */
const aboutDocuments =
  /\b(?:documents?|knowledge|collections?|manuals?|handbooks?|contracts?|polic(?:y|ies)|dokumente?n?|wissen|sammlung(?:en)?|handb(?:uch|ücher)|vertr(?:ag|äge))\b/i;

/** The tool that a sentence asks for; undefined if none fits. */
export function chooseTool(sentence: string, tools: readonly ToolSchema[]): ToolSchema | undefined {
  const words = new Set(wordsOf(sentence));
  const ranked = tools
    .map((tool) => ({ tool, score: scoreOf(tool, words, sentence) }))
    .sort((one, other) => other.score - one.score);
  return ranked[0] && ranked[0].score >= enough ? ranked[0].tool : undefined;
}

function scoreOf(tool: ToolSchema, words: ReadonlySet<string>, sentence: string): number {
  const named = nameWords(tool.name);
  let score = 0;
  for (const deed of new Set(named.map(verbOf))) {
    const said = deed?.filter((word) => words.has(word) && !(word === "list" && listAsThing.test(sentence))) ?? [];
    if (said.some((word) => !weakWords.has(word))) score += 4;
    else if (said.length > 0) score += 1;
  }
  // Of tools that do the same, "read" means the one that is called so.
  if (named.some((word) => words.has(word) && verbOf(word) && !weakWords.has(word))) score += 0.5;
  // "what are my tasks" names no deed, and means the one that only looks.
  if (
    named.some((word) => verbOf(word)?.[0] === "list") &&
    ["what", "which", "all", "tell"].some((word) => words.has(word))
  )
    score += 1;
  if (thingWords(tool).some((word) => words.has(word))) score += 3;
  const described = wordsOf(tool.description).filter((word) => word.length > 3 && words.has(word));
  score += Math.min(1, new Set(described).size / 2);
  if (named.at(-1) === "rag" && aboutDocuments.test(sentence)) score += 6;
  if (named.some((word) => verbOf(word)?.[0] === "calculate") && isArithmetic(sentence)) score += 6;
  return score;
}
