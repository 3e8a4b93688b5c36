/**
 * Cuts a Markdown text into pieces that can be shown one by one: while it is being written, only the last ones change. Cut is
 * between blocks of the top level: at empty lines outside of code, formulas and lists, around fenced code, and where a long list
 * can go on as another one. A text with footnotes, which are numbered over all of it, stays whole. Joined, the pieces are the text.
 * Asked again for a text that only grew, it looks at its end alone.
 */
export function createCutter(): (text: string) => readonly string[] {
  let [last, pieces]: [string, readonly string[]] = ["", []];
  return (text) => {
    if (text === last) return pieces;
    // The first line of the last piece may have been half there: with the rest of it, it may belong to the piece before.
    const kept = text.startsWith(last) ? pieces.slice(0, -2) : [];
    const from = kept.reduce((sum, piece) => sum + piece.length, 0);
    pieces = text.includes("[^") && footnote.test(text) ? [text] : [...kept, ...cut(text.slice(from))];
    last = text;
    return pieces;
  };
}

function cut(text: string): readonly string[] {
  const pieces: string[] = [];
  let piece = "";
  /** What closes the code or formula that is open. */
  let closing: RegExp | undefined;
  let wasEmpty = false;
  /** Nothing but empty lines came since fenced code ended. */
  let isAfterCode = false;
  for (const line of text.split(/(?<=\n)/)) {
    const isEmpty = line.trim() === "";
    if (!closing && !isEmpty) {
      const isBorder = isAfterCode || isFence(line) || (wasEmpty ? !goesOn(piece, line) : isLongList(piece, line));
      if (isBorder && piece !== "") {
        pieces.push(ownCopy(piece));
        piece = "";
      }
      isAfterCode = false;
    }
    piece += line;
    if (!closing) closing = openedBy(line);
    else if (closing.test(line)) {
      closing = undefined;
      isAfterCode = isFence(piece);
    }
    wasEmpty = isEmpty;
  }
  return piece === "" ? pieces : [...pieces, ownCopy(piece)];
}

/** What is sliced off a text keeps all of that text in memory: while an answer grows, each of its states. */
function ownCopy(piece: string): string {
  return JSON.parse(JSON.stringify(piece)) as string;
}

const footnote = /^ {0,3}\[\^[^\]\n\r\u2028\u2029]+\]:/m;
const listItem = /^ {0,3}(?:[-*+]|(\d{1,9})[.)])\s/;
/** Characters of a list after which its next item may begin another one. */
const longList = 4000;

/** Fenced code that stands in nothing else. */
export function isFence(text: string): boolean {
  return (text.startsWith("```") || text.startsWith("~~~")) && openedFence(text.slice(0, 1000)) !== undefined;
}

/** Whether a list stands on its end, and another one at the beginning of what follows. */
export function isListCut(piece: string, next: string): boolean {
  return piece.length >= longList && listItem.test(piece) && listItem.test(next);
}

/** Within a list, an item or anything indented belongs to what came before. */
function goesOn(piece: string, line: string): boolean {
  if (/^(?: {2,}|\t)/.test(line)) return true;
  return listItem.test(piece) && listItem.test(line) && !isLongList(piece, line);
}

/** A list with numbers goes on with the next one. */
function isLongList(piece: string, line: string): boolean {
  if (piece.length < longList || !/^(?:[-*+]|\d)/.test(line) || !listItem.test(piece)) return false;
  const number = listItem.exec(line)?.[1];
  if (number === undefined) return listItem.test(line);
  const before = [".", ")"].map((sign) => `\n${Number(number) - 1}${sign} `);
  return before.some((start) => `\n${piece.slice(-2000)}`.includes(start));
}

function openedBy(line: string): RegExp | undefined {
  const fence = openedFence(line);
  if (fence) return fence.closing;
  const formula = /^\s*(\$\$|\\\[)(.*)/.exec(line);
  if (!formula) return undefined;
  const end = formula[1] === "$$" ? "$$" : String.raw`\]`;
  return formula[2]?.includes(end) ? undefined : new RegExp(end.replaceAll(/[$\\\]]/g, String.raw`\$&`));
}

const definition = /^ {0,3}\[([^\]\n\r\u2028\u2029^][^\]\n\r\u2028\u2029]*)\]:[ \t]*\S.*$/gm;

/** The pieces, each with the definitions of links that it names: those hold everywhere in a text, and stand at its end as a rule. */
export function withDefinitions(pieces: readonly string[]): readonly string[] {
  const found = new Map<string, string>();
  for (const piece of pieces)
    if (piece.includes("]:") && !isFence(piece))
      for (const [line, label = ""] of piece.matchAll(definition)) {
        const name = `[${label.toLowerCase()}]`;
        if (!found.has(name)) found.set(name, line);
      }
  if (found.size === 0) return pieces;
  return pieces.map((piece) => {
    if (!piece.includes("[") || isFence(piece)) return piece;
    const words = piece.toLowerCase();
    const named = [...found].filter(([label]) => words.includes(label) && !words.includes(`${label}:`));
    return named.length === 0 ? piece : `${piece.trimEnd()}\n\n${named.map(([, line]) => line).join("\n")}\n`;
  });
}

type CodeFence = { readonly indent: string; readonly language: string; readonly closing: RegExp };

function openedFence(line: string): CodeFence | undefined {
  const [found, indent = "", marks = "", rest = ""] = /^(\s*)(`{3,}|~{3,})(.*)/.exec(line) ?? [];
  if (found === undefined || (marks.startsWith("`") && rest.includes("`"))) return undefined;
  const closing = new RegExp(`^\\s*\\${marks[0]!}{${marks.length},}\\s*$`);
  return { indent, language: /^\s*(\S*)/.exec(rest)?.[1] ?? "", closing };
}

export type CodeOrText =
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "text"; readonly text: string };

/** Splits a block into its fenced code, without the fences, and the text around it. */
export function fencedCode(block: string): readonly CodeOrText[] {
  const pieces: CodeOrText[] = [];
  let fence: CodeFence | undefined;
  let lines: string[] = [];
  const endPiece = () => {
    const text = lines.join("");
    if (fence) pieces.push({ kind: "code", language: fence.language, text });
    else if (text !== "") pieces.push({ kind: "text", text });
    lines = [];
  };
  for (const line of block.split(/(?<=\n)/)) {
    if (fence?.closing.test(line)) {
      endPiece();
      fence = undefined;
      continue;
    }
    const opened = fence ? undefined : openedFence(line);
    if (opened) {
      endPiece();
      fence = opened;
    } else lines.push(fence ? line.replace(new RegExp(`^\\s{0,${fence.indent.length}}(?=[^\n])`), "") : line);
  }
  endPiece();
  return pieces;
}

/**
 * Formulas as `$$…$$`, in whichever way models write them: `\(…\)`, `\[…\]`, `$…$`; of one that has a line of its own the dollars get
 * lines too, since it is set large then. An amount of money is no formula: between single dollars there must stand what only formulas
 * have, close to them.
 */
export function withFormulas(block: string): string {
  if (!/\$|\\[([]/.test(block) || /^\s*(?:```|~~~)/.test(block)) return block;
  return block
    .replace(/^\s*\\\[([\s\S]+?)\\\]\s*$/, (_, formula: string) => ["$$", formula.trim(), "$$", ""].join("\n"))
    .replaceAll(inCodeOrFormula, (whole: string, ...found: readonly (string | undefined)[]) => {
      const [, indent = "", dollars, square, round, single] = found;
      const alone = dollars ?? square;
      if (alone !== undefined) return ["$$", alone.trim(), "$$"].map((line) => indent + line).join("\n");
      const formula = round ?? (single !== undefined && isFormula(single) ? single : undefined);
      return formula === undefined ? whole : ["$$", formula, "$$"].join("");
    });
}

/** Code stays as it is; then lines of a formula alone, then `\(…\)`, then what stands between two single dollars. */
const inCodeOrFormula =
  /(`{1,20})[\s\S]*?\1|^([ \t]*)(?:\$\$((?:(?!\$\$)[^\n]){1,1000})\$\$|\\\[((?:(?!\\\])[^\n]){1,1000})\\\])[ \t]*$|\\\(((?:(?!\\[()])[^\n]){1,1000})\\\)|(?<![\\$\w])\$(?![\s$])([^$\n]{1,300}?)(?<![\s\\])\$(?![$\w])/gm;

function isFormula(text: string): boolean {
  return /[\\^_={}]/.test(text) || /^[A-Za-z]'?$/.test(text);
}
