import { readFileSync } from "node:fs";

let prototypes: ReadonlyMap<string, string> | undefined;

/**
 * Maps names that look alike to the same text: the skeleton of UTS 39, in one letter case, since names are compared without it.
 * Kept in the database: another table of look-alikes needs a migration that works it out anew.
 */
export function looksOf(name: string): string {
  prototypes ??= readPrototypes();
  // A small i looks like nothing else, a capital one like a small l: both ways must lead to the same.
  return skeletonOf(skeletonOf(skeletonOf(name).toUpperCase()).toLowerCase());
}

/** Two texts look alike if this is the same for both (UTS 39, section 4). */
function skeletonOf(text: string): string {
  const visible = text.normalize("NFD").replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
  return Array.from(visible, (character) => prototypes!.get(character) ?? character)
    .join("")
    .normalize("NFD");
}

/** Read when the first name is looked at: most starts need none. */
function readPrototypes(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of readFileSync(new URL("confusables.txt", import.meta.url), "utf8").split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [prototype, alike] = line
      .split(": ")
      .map((codes) => codes.split(" ").map((code) => Number.parseInt(code, 16)));
    for (const code of alike!) found.set(String.fromCodePoint(code), String.fromCodePoint(...prototype!));
  }
  return found;
}
