import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { root } from "../doc-pages.ts";

/** A pattern that stands in the code as it is. */
export type Literal = { readonly file: string; readonly line: number; readonly source: string; readonly flags: string };
/** `new RegExp` of what is only known when it runs; `written` is its first argument as it stands there. */
export type Built = { readonly file: string; readonly line: number; readonly written: string };

/** Every regular expression of what runs: src/ and web/ without their tests. */
export function collected(): { readonly literals: readonly Literal[]; readonly built: readonly Built[] } {
  const literals: Literal[] = [];
  const built: Built[] = [];
  const files = globSync("{src,web}/**/*.{ts,tsx,js,mjs}", { cwd: root }).filter((file) => !/\.test\.tsx?$/.test(file));
  for (const file of files.toSorted()) {
    const found = regexesIn(file, readFileSync(join(root, file), "utf8"));
    literals.push(...found.literals);
    built.push(...found.built);
  }
  return { literals, built };
}

export function regexesIn(file: string, text: string): { readonly literals: Literal[]; readonly built: Built[] } {
  const literals: Literal[] = [];
  const built: Built[] = [];
  const { program, errors } = parseSync(file, text);
  if (errors[0]) throw new Error(`${file} can't be read: ${errors[0].message}`);
  const lineOf = (at: number) => text.slice(0, at).split("\n").length;
  const construct = ({ callee, arguments: given, start }: Construction) => {
    if (callee.type !== "Identifier" || callee.name !== "RegExp") return;
    const [source, flags] = given;
    const plain = source?.type === "Literal" && typeof source.value === "string" ? source.value : undefined;
    const plainFlags = flags?.type === "Literal" && typeof flags.value === "string" ? flags.value : "";
    if (plain !== undefined) literals.push({ file, line: lineOf(start), source: plain, flags: plainFlags });
    else if (source) {
      const written = text.slice(source.start, source.end).replaceAll(/\s+/g, " ");
      built.push({ file, line: lineOf(start), written });
    }
  };
  new Visitor({
    Literal(node) {
      if (!("regex" in node)) return;
      literals.push({ file, line: lineOf(node.start), source: node.regex.pattern, flags: node.regex.flags });
    },
    NewExpression: construct,
    CallExpression: construct,
  }).visit(program);
  return { literals, built };
}

type Part = { readonly type: string; readonly start: number; readonly end: number };
type Construction = {
  readonly callee: Part & { readonly name?: unknown };
  readonly arguments: readonly (Part & { readonly value?: unknown })[];
  readonly start: number;
};
