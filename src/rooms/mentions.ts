/** Handles and ids of agents after an `@`, as they stand in a text; not in an e-mail address or a path. */
const mention = /(?<![\p{L}\p{N}_.+\-/@])@([\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}_])?)/gu;

/** Everybody is meant. */
export const everybody: readonly string[] = ["all", "everyone", "everybody"];

/**
 * Who is mentioned, in lower case, each once, in the order of the text. What stands in code or in a quote is somebody else's
 * word and does not count.
 */
export function mentionsIn(text: string): readonly string[] {
  const found = new Set<string>();
  for (const [, name] of spoken(text).matchAll(mention)) found.add(name!.toLowerCase());
  return [...found];
}

/** The text without code and quotes. */
function spoken(text: string): string {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
    } else if (mark !== undefined) fence = mark;
    else if (!/^ {0,3}>/.test(line)) lines.push(line);
  }
  return lines.join("\n").replaceAll(/(`+)(?!`)[^]*?[^`]\1(?!`)/g, " ");
}
