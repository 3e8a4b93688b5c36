import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** Bytes of all that index.html of a build loads at once, of itself, and of the words of the language that has most, gzipped. */
export function firstLoadBytes(folder: string): number {
  const html = readFileSync(join(folder, "index.html"), "utf8");
  const files = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, file = ""]) => file);
  const sizeOf = (file: string) => gzipSync(readFileSync(join(folder, file)), { level: 9 }).length;
  const words = globSync("assets/first-*.js", { cwd: folder }).map(sizeOf);
  return ["index.html", ...files].map(sizeOf).reduce((sum, size) => sum + size, Math.max(...words));
}
