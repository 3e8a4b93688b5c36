export type ClosedBlock = {
  readonly begin: RegExpExecArray;
  readonly inner: string;
  readonly from: number;
  readonly to: number;
};

/**
 * What stands between a beginning and the first end behind it, one after the other; a beginning without an end is none. In one pattern
 * each beginning would be followed to the end of the text; here an end that is missing once is not looked for again. Both global.
 */
export function closedBlocks(
  text: string,
  beginning: RegExp,
  endOf: (begin: RegExpExecArray) => RegExp,
): readonly ClosedBlock[] {
  const blocks: ClosedBlock[] = [];
  const missing = new Set<string>();
  beginning.lastIndex = 0;
  for (let begin = beginning.exec(text); begin; begin = beginning.exec(text)) {
    const end = endOf(begin);
    if (missing.has(end.source)) continue;
    const innerFrom = beginning.lastIndex;
    end.lastIndex = innerFrom;
    const found = end.exec(text);
    if (!found) {
      missing.add(end.source);
      continue;
    }
    const to = found.index + found[0].length;
    blocks.push({ begin, inner: text.slice(innerFrom, found.index), from: begin.index, to });
    beginning.lastIndex = to;
  }
  return blocks;
}

/** A text without the pieces that are named, which follow each other. */
export function withoutPieces(text: string, pieces: Iterable<{ readonly from: number; readonly to: number }>): string {
  let rest = "";
  let kept = 0;
  for (const { from, to } of pieces) {
    rest += text.slice(kept, from);
    kept = to;
  }
  return rest + text.slice(kept);
}
