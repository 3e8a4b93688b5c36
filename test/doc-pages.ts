import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "..");
/** Of the documentation, by their paths from the root. */
export const pages = [
  "README.md",
  "AGENTS.md",
  "CHANGELOG.md",
  "SECURITY.md",
  ...globSync("docs/**/*.md", { cwd: root }).sort(),
];
export const read = (page: string) => readFileSync(join(root, page), "utf8");

export type Block = { readonly language: string; readonly text: string };

/** Its fenced blocks. */
export function blocksOf(page: string): Block[] {
  return [...read(page).matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, text]) => ({
    language: language!,
    text: text!,
  }));
}
