import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** Bytes of all that index.html of a build loads at once, and of itself, gzipped. */
export function firstLoadBytes(folder: string): number {
  const html = readFileSync(join(folder, "index.html"), "utf8");
  const files = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, file = ""]) => file);
  const sizes = ["index.html", ...files].map((file) => gzipSync(readFileSync(join(folder, file)), { level: 9 }).length);
  return sizes.reduce((sum, size) => sum + size, 0);
}
