import { createHash } from "node:crypto";
import { globSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiDocument } from "./judge-answer.ts";

const dayMs = 24 * 60 * 60_000;
const root = join(import.meta.dirname, "../..");

/**
 * The document of a server with these routes. To make it takes a third of a second, in each of a hundred test processes; so
 * whoever makes it keeps it for the others, until a source changes.
 */
export function keptDocument(routes: readonly string[], make: () => object): ApiDocument {
  const place = join(tmpdir(), `colloquy-openapi-${keyOf(routes)}.json`);
  try {
    return JSON.parse(readFileSync(place, "utf8")) as ApiDocument;
  } catch {
    const text = JSON.stringify(make());
    writeFileSync(`${place}.${process.pid}`, text);
    renameSync(`${place}.${process.pid}`, place);
    removeOld();
    return JSON.parse(text) as ApiDocument;
  }
}

/** Those of sources that have changed since. */
function removeOld(): void {
  for (const name of globSync("colloquy-openapi-*", { cwd: tmpdir() })) {
    const stats = statSync(join(tmpdir(), name), { throwIfNoEntry: false });
    if (stats && Date.now() - stats.mtimeMs > dayMs) rmSync(join(tmpdir(), name), { force: true });
  }
}

function keyOf(routes: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify([root, routes]));
  for (const file of [...globSync("src/**/*.ts", { cwd: root }), "package-lock.json"].sort()) {
    const { size, mtimeMs } = statSync(join(root, file));
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex").slice(0, 24);
}
