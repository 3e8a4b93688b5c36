import { createHash } from "node:crypto";

/** What every provider takes as the name of a tool. */
const longest = 64;
const hashLength = 6;

/**
 * Names by which models call a server's tools, in the order of `tools`: `<prefix>_<tool>`, other characters than letters,
 * digits, _ and - replaced. A name that is too long, or that would be another's, ends with a hash of the server's own
 * name for it, so that it is the same at every listing.
 */
export function modelNames(prefix: string, tools: readonly string[]): string[] {
  const plain = tools.map((tool) => (prefix === "" ? tool : `${prefix}_${tool}`).replaceAll(/[^a-zA-Z0-9_-]/g, "_"));
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  return plain.map((name, at) => {
    const isAltered = !name.endsWith(tools[at]!);
    const isFit = name.length <= longest && /^[a-zA-Z_]/.test(name);
    if (isFit && (counts.get(name) === 1 || !isAltered)) return name;
    const hash = createHash("sha256").update(tools[at]!).digest("hex").slice(0, hashLength);
    return `${name.replace(/^[^a-zA-Z_]/, "_").slice(0, longest - hashLength - 1)}_${hash}`;
  });
}
