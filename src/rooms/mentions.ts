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
  return withoutCode(lines.join("\n"));
}

/** Code within a line begins at some backticks and ends at as many; those without such an end are text. */
function withoutCode(text: string): string {
  const runs = [...text.matchAll(/`+/g)].map(({ 0: ticks, index }) => ({ index, length: ticks.length }));
  const nextOfLength = new Map<number, number>();
  const ends = runs.map(() => -1);
  for (let at = runs.length - 1; at >= 0; at--) {
    ends[at] = nextOfLength.get(runs[at]!.length) ?? -1;
    nextOfLength.set(runs[at]!.length, at);
  }
  let kept = "";
  let from = 0;
  for (let at = 0; at < runs.length; at++) {
    if (ends[at] === -1) continue;
    kept += `${text.slice(from, runs[at]!.index)} `;
    at = ends[at]!;
    from = runs[at]!.index + runs[at]!.length;
  }
  return kept + text.slice(from);
}

/** What the owner of a room is called in it, unless an agent is. */
export const ownersHandle = "user";

/** What a person is called in a room: the account's name as far as it can be mentioned, and nobody else's. */
export function handleFor(name: string, taken: readonly string[]): string {
  const plain = name
    .split("@", 1)[0]!
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_-]+/gu, "_")
    .replaceAll(/^[-_]+|(?<![-_])[-_]+$/g, "")
    .slice(0, 40);
  const base = plain === "" || everybody.includes(plain) ? "person" : plain;
  for (let number = 1; ; number++) {
    const handle = number === 1 ? base : `${base}${number}`;
    if (!taken.includes(handle)) return handle;
  }
}
