/** What stands from `start` to `end` of a source becomes `text`. */
export type Change = {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** A place that whoever notices it comes by; `start` when absent. */
  readonly reachedAt?: number;
};

type Token = { readonly text: string; readonly start: number; readonly end: number; readonly depth: number };

/** Whether a text of the code is SQL, or a piece that becomes a part of it. */
export function isSql(text: string): boolean {
  return (
    /\b(?:select|where|returning|insert into|delete from|for (?:update|share))\b|\bupdate \w+ set\b/.test(text) ||
    /^\s*(?:and|or)\s/.test(text) ||
    /^\s*[a-z_]+ = (?!>)/.test(text)
  );
}

/** What ends a condition or a list of assignments, at its own depth. */
const clause = new Set(
  "where from returning group order limit for on set union then when else end select join left inner values do".split(
    " ",
  ),
);
const joins = new Set(["and", "or"]);
const comparisons: Readonly<Record<string, string>> = { "<": "<=", "<=": "<", ">": ">=", ">=": ">" };

/** `holes`: the `${…}` of a template, each taken as one word. Positions are those of `source`. */
export function sqlChanges(
  source: string,
  { start, end, holes }: { start: number; end: number; holes: readonly (readonly [number, number])[] },
): Change[] {
  const tokens = tokensOf(source, { start, end, holes });
  const changes: Change[] = [];
  const change = (from: number, to: number, text: string) => changes.push({ start: from, end: to, text });
  /** The first token behind `at` where its condition is over. */
  const endOf = (at: number, isOver: (token: Token) => boolean) => {
    const { depth } = tokens[at]!;
    const stop = tokens.findIndex(
      (token, index) => index > at && (token.depth < depth || (token.depth === depth && isOver(token))),
    );
    return stop === -1 ? tokens.length : stop;
  };
  const isNext = (token: Token) => clause.has(token.text) || joins.has(token.text) || token.text === ",";

  tokens.forEach((token, at) => {
    const { text, depth } = token;
    if (joins.has(text) && !isBetween(tokens, at)) {
      const stop = endOf(at, isNext);
      change(token.start, tokens[stop - 1]!.end, "");
    } else if (text === "where" && tokens[at + 1]) {
      const stop = endOf(at, isNext);
      const next = tokens[stop];
      if (next && next.depth === depth && joins.has(next.text)) change(tokens[at + 1]!.start, next.end, "");
      else change(token.start, tokens[stop - 1]!.end, "");
    } else if (text === "set" || (at === 0 && tokens[1]?.text === "=")) {
      const first = text === "set" ? at + 1 : at;
      const stop = endOf(at, (one) => /^(?:where|from|returning)$/.test(one.text));
      dropEach(tokens.slice(first, stop), depth, change);
    } else if (text === "case") changeCase(source, tokens, { at, change });
    else if (text === "for" && /^(?:update|share|no)$/.test(tokens[at + 1]?.text ?? "")) {
      const stop = endOf(at, (one) => !/^(?:for|no|key|update|share|nowait|skip|locked|of|[rb])$/.test(one.text));
      change(token.start, tokens[stop - 1]!.end, "");
    } else if (/^(?:greatest|least|coalesce)$/.test(text) && tokens[at + 1]?.text === "(") {
      const close = endOf(at, (one) => one.text === ")");
      const inside = tokens.slice(at + 2, close);
      for (const part of listOf(inside, depth + 1))
        change(token.start, tokens[close]!.end, `(${source.slice(part[0]!.start, part.at(-1)!.end)})`);
    } else if (text in comparisons) change(token.start, token.end, comparisons[text]!);
    else if ((text === "+" || text === "-") && tokens[at - 1] && tokens[at - 1]!.text !== "(")
      change(token.start, token.end, text === "+" ? "-" : "+");
    else if (text === "is" && tokens[at + 1]?.text === "null") change(token.end, token.end, " not");
    else if (text === "not" && tokens[at - 1]?.text === "is") change(token.start, token.end, "");
    else if (text === "not" && tokens[at + 1]?.text !== "exists") change(token.start, token.end, "");
    else if (text === "nowait" || text === "desc") change(token.start, token.end, "");
  });
  return changes;
}

function isBetween(tokens: readonly Token[], at: number): boolean {
  return tokens.slice(Math.max(0, at - 3), at).some(({ text }) => text === "between");
}

function changeCase(
  source: string,
  tokens: readonly Token[],
  { at, change }: { at: number; change: (from: number, to: number, text: string) => void },
): void {
  let open = 0;
  const found: Record<string, Token> = {};
  for (const token of tokens.slice(at)) {
    if (token.text === "case") open++;
    if (token.text === "end" && open-- === 1) {
      const { then, else: other } = found;
      if (!then) return;
      const text = (from: Token, to: Token) => `(${source.slice(from.end, to.start).trim()})`;
      change(tokens[at]!.start, token.end, text(then, other ?? token));
      change(tokens[at]!.start, token.end, other ? text(other, token) : "null");
      return;
    }
    // Of one with several conditions only the last is changed.
    if (open === 1) found[token.text] = token;
  }
}

/** Each of a list, with a comma beside it. */
function dropEach(
  tokens: readonly Token[],
  depth: number,
  change: (from: number, to: number, text: string) => void,
): void {
  const parts = listOf(tokens, depth);
  if (parts.length < 2) return;
  parts.forEach((part, index) => {
    if (index === 0) change(part[0]!.start, parts[1]![0]!.start, "");
    else change(parts[index - 1]!.at(-1)!.end, part.at(-1)!.end, "");
  });
}

function listOf(tokens: readonly Token[], depth: number): (readonly Token[])[] {
  const parts: Token[][] = [[]];
  for (const token of tokens)
    if (token.text === "," && token.depth === depth) parts.push([]);
    else parts.at(-1)!.push(token);
  return parts.filter((part) => part.length > 0);
}

function tokensOf(
  source: string,
  { start, end, holes }: { start: number; end: number; holes: readonly (readonly [number, number])[] },
): Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  let at = start;
  while (at < end) {
    const hole = holes.find(([from]) => from === at);
    const length = hole
      ? hole[1] - at
      : /^(?:\s+|'[^']*'|[\w.$*]+(?:::\w+)?|->>?|<=|>=|<>|\|\||::\w+|[^])/.exec(source.slice(at, end))![0].length;
    const text = source.slice(at, at + length);
    if (text === ")") depth--;
    if (text.trim() !== "") tokens.push({ text: hole ? "${}" : text, start: at, end: at + length, depth });
    if (text === "(") depth++;
    at += length;
  }
  return tokens;
}
