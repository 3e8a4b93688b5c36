/**
 * Cuts a Markdown text into pieces that can be shown one by one: while it is being written, only the last one changes. Cut is
 * between blocks of the top level, at empty lines outside of code, formulas and lists; a text with definitions of links or
 * footnotes, which hold everywhere in it, stays whole. Joined, the pieces are the text.
 */
export function markdownBlocks(text: string): readonly string[] {
  if (definitions.test(text)) return [text];
  const pieces: string[] = [];
  let piece = "";
  /** What closes the code or formula that is open. */
  let closing: RegExp | undefined;
  let wasEmpty = false;
  for (const line of text.split(/(?<=\n)/)) {
    const isEmpty = line.trim() === "";
    if (!closing && wasEmpty && !isEmpty && !goesOn(piece, line)) {
      pieces.push(piece);
      piece = "";
    }
    piece += line;
    if (closing) {
      if (closing.test(line)) closing = undefined;
    } else closing = openedBy(line);
    wasEmpty = isEmpty;
  }
  return piece === "" ? pieces : [...pieces, piece];
}

const definitions = /^ {0,3}\[[^\]\n\r\u2028\u2029]+\]:/m;
const listItem = /^ {0,3}(?:[-*+]|\d{1,9}[.)])\s/;

/** Within a list, an item or anything indented belongs to what came before. */
function goesOn(piece: string, line: string): boolean {
  return /^(?: {2,}|\t)/.test(line) || (listItem.test(piece) && listItem.test(line));
}

function openedBy(line: string): RegExp | undefined {
  const fence = openedFence(line);
  if (fence) return fence.closing;
  const formula = /^\s*(\$\$|\\\[)(.*)/.exec(line);
  if (!formula) return undefined;
  const end = formula[1] === "$$" ? "$$" : String.raw`\]`;
  return formula[2]?.includes(end) ? undefined : new RegExp(end.replaceAll(/[$\\\]]/g, String.raw`\$&`));
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
