import { isPicture, type MadeFile } from "./made-files.ts";

/** Slides as pictures, in their order. */
export type Deck = { readonly name: string; readonly pages: readonly MadeFile[] };

/** `talk.001.png` and so on beside `talk.md`, `talk.pptx` or the like are the pages of one deck; what is none is the rest. */
export function decksIn(files: readonly MadeFile[]): {
  readonly decks: readonly Deck[];
  readonly rest: readonly MadeFile[];
} {
  const documents = new Set(files.flatMap(({ path }) => /^(.+)\.(?:pptx|pdf|html|md)$/.exec(path)?.[1] ?? []));
  const decks = new Map<string, MadeFile[]>();
  const rest: MadeFile[] = [];
  for (const file of files) {
    const name = isPicture(file) ? /^(.+)\.\d{1,4}\.\w+$/.exec(file.path)?.[1] : undefined;
    if (name === undefined || !documents.has(name)) rest.push(file);
    else decks.set(name, [...(decks.get(name) ?? []), file]);
  }
  return {
    decks: [...decks].map(([name, pages]) => ({ name, pages: pages.toSorted((a, b) => numberOf(a) - numberOf(b)) })),
    rest,
  };
}

function numberOf({ path }: MadeFile): number {
  return Number(/\.(\d+)\.\w+$/.exec(path)?.[1]);
}
