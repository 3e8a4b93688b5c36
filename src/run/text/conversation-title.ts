import { visibleText } from "./visible-text.ts";

/** UTF-16 units of a title. */
const longest = 60;

/** A title for what begins with these words: their first sentence without Markdown's marks, cut at a word where it is long. */
export function firstWords(text: string): string {
  const line = unmarked(
    text
      .trim()
      .replace(/^(?:#{1,6}\s+|>\s*|[-*+]\s+|@[\w-]+[,:]?\s+|\s+)+/, "")
      .split("\n", 1)[0]!,
  ).trim();
  const sentence = /^.{8,}?[.!?…](?=\s|$)/u.exec(line)?.[0] ?? line;
  const plain = sentence.replace(/(?<![.:,;])[.:,;]+$/, "");
  return cut(plain === "" ? text.trim() : plain);
}

/** A longer line is no title, but the beginning of an answer; so are more lines. */
const [longestLine, mostLines] = [150, 3];
/** Nor is one of these: code, an object, a tag. */
const isCode = /^(?:[{[<]|```)/;
const label = /^(?:title|titel|titre|título|titolo|عنوان|العنوان|标题|標題|タイトル|제목)\s*[:：]\s*/iu;
/** What would turn the line around it, or is not seen. Joiners stay: some scripts and pictures need them. */
const unseen = /[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;
const quotes: ReadonlyMap<string, string> = new Map(
  ['""', "''", "“”", "‘’", "„“", "„”", "‚‘", "«»", "»«", "‹›", "「」", "『』", "《》", "〈〉", "``"].map(
    ([open = "", close = ""]) => [open + close, open],
  ),
);

/** The title in a model's answer, made plain; undefined: there is none, as small models think aloud, refuse, or answer the question. */
export function titleIn(answer: string): string | undefined {
  const { text, call } = visibleText(answer);
  if (call || isCode.test(text)) return undefined;
  const lines = text.split(/[\n\u2028\u2029]/).flatMap((line) => line.trim() || []);
  const [first = "", second] = lines;
  if (lines.length > mostLines || first.length > longestLine) return undefined;
  // "Here is a title for it:"
  const line = second !== undefined && /[:：]\**$/.test(first) ? second : first;
  const bare = unmarked(line.replace(/^(?:#{1,6}\s+|>\s*|[-*+•]\s+|\d{1,2}[.)]\s+)+/, "")).replace(label, "");
  const plain = unquoted(bare.replaceAll(unseen, " ").replaceAll(/\s+/gu, " ").trim())
    .replace(/(?<![.。．])[.。．]$/u, "")
    .trim();
  return /[\p{L}\p{N}]/u.test(plain) && plain.length <= longestLine ? cut(plain) : undefined;
}

/** Quotation marks around all of it; a line that quotes a part keeps its marks. */
function unquoted(line: string): string {
  const open = quotes.get(`${line.at(0) ?? ""}${line.length > 1 ? (line.at(-1) ?? "") : ""}`);
  if (open === undefined) return line;
  const inner = line.slice(1, -1);
  return inner.includes(open) ? line : inner.trim();
}

function cut(plain: string): string {
  if (plain.length <= longest) return plain;
  const short = plain.slice(0, longest - 1);
  // Right at its end a word is whole.
  const words = /\s/.test(plain[longest - 1]!) ? short : short.replace(/\s+\S*$/, "");
  return `${(words === "" ? short : words).trimEnd().toWellFormed()}…`;
}

/** A mark is one only in a pair right around words: `17 * 23` and `2 ** 3` have none. */
function unmarked(line: string): string {
  return line
    .slice(0, 1000)
    .replaceAll(/(?<![\w*])(\*\*?)(?=[^\s*])([^*]*[^\s*])\1(?![\w*])/g, "$2")
    .replaceAll(/(?<!\w)__(?=\S)([^_]*\S)__(?!\w)/g, "$1")
    .replaceAll(/(?<!`)(`+)(?=[^`])([^`]*[^`])\1/g, "$2");
}
