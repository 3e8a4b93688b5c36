import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

export type PageFile = {
  readonly type: string;
  readonly tag: string;
  readonly bytes: Buffer;
  /** Compressed versions, by encoding. */
  readonly br?: Buffer;
  readonly gzip?: Buffer;
};

/** The built page by path (`index.html`, `assets/…`); it is small, and stays in memory. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".webmanifest": "application/manifest+json",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

/** Loads the page; undefined if the folder has no build. */
export function loadPage(folder: string): PageFiles | undefined {
  const names = globSync("**/*.*", { cwd: folder });
  if (!names.includes("index.html")) return undefined;
  const read = (name: string) => (names.includes(name) ? readFileSync(join(folder, name)) : undefined);
  const files = names.flatMap((name): [string, PageFile][] => {
    const type = types[extname(name)];
    if (type === undefined) return [];
    const bytes = readFileSync(join(folder, name));
    const br = read(`${name}.br`);
    const gzip = read(`${name}.gz`);
    const tag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
    return [[name.replaceAll("\\", "/"), { type, tag, bytes, ...(br && { br }), ...(gzip && { gzip }) }]];
  });
  return new Map(files);
}
