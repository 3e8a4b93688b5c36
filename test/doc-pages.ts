import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "..");
/** Of the documentation, by their paths from the root. */
export const pages = [
  "README.md",
  "AGENTS.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...globSync(["docs/**/*.md", "examples/*/README.md"], { cwd: root }).sort(),
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

/** What a page shows of an output: `…` stands for anything, also for nothing; numbers of tasks may be others. */
export function patternOf(shown: string): RegExp {
  const parts = shown.trim().split(/\s*…\s*/);
  const pattern = parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join(".*?");
  return new RegExp(`^${pattern.replaceAll(/(no\\\. |"id":)\d+/g, "$1\\d+")}\\s*$`, "s");
}
