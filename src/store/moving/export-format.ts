import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { InvalidInput } from "../../protocol/base/errors.ts";

export const exportFormat = "colloquy-export-1";

const sumSchema = z.object({ rows: z.int(), sha256: z.string() });

/** Manifest of a complete export. Beside it stand `<table>.jsonl`, `files.jsonl` and `files/`. */
export const manifestSchema = z.object({
  format: z.literal(exportFormat),
  id: z.guid(),
  source: z.enum(["pglite", "postgres"]),
  migrations: z.array(z.string()),
  /** In the order in which they are inserted. */
  tables: z.array(sumSchema.extend({ table: z.string() })),
  /** Counters of the database: `<table>.<column>`, the last value and whether it was given out. */
  counters: z.array(z.object({ table: z.string(), column: z.string(), value: z.int(), used: z.boolean() })),
  /** Checksum of `files.jsonl`, which has one line per file. */
  files: sumSchema,
  startedAt: z.string(),
  finishedAt: z.string(),
});
export type ExportManifest = z.infer<typeof manifestSchema>;

/** A line of `files.jsonl`; `path` is relative to the data directory, with `/`. */
export const fileLineSchema = z.object({
  path: z.string(),
  size: z.int(),
  sha256: z.string(),
  mode: z.int(),
  modifiedMs: z.number(),
});
export type FileLine = z.infer<typeof fileLineSchema>;

/** Throws InvalidInput for a folder without a whole export of this format. */
export async function readManifest(folder: string): Promise<ExportManifest> {
  const value = await readJson(join(folder, "manifest.json"));
  if (value === undefined)
    throw new InvalidInput(
      `${folder} is not a finished export: it has no manifest.json. Continue an interrupted export with \`./colloquy export ${folder}\`.`,
      { code: "export_unfinished" },
    );
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success)
    throw new InvalidInput(`${folder}/manifest.json is not of the format ${exportFormat}.`, {
      code: "export_unknown_format",
      cause: parsed.error,
    });
  return parsed.data;
}

/** Undefined if there is no such file. */
export async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw new InvalidInput(`${path} can't be read.`, { cause: error });
  }
}

/** Whole or not at all; for this operating-system user only, since exports hold secrets. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFile(`${path}.part`, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.part`, path);
}

const newline = 0x0a;

/** The lines of a file, cut at line feeds only (JSON may hold other characters that count as line ends elsewhere). */
export async function* linesOf(path: string, signal?: AbortSignal): AsyncGenerator<string> {
  let pieces: Buffer[] = [];
  for await (const chunk of createReadStream(path, { signal }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end; (end = chunk.indexOf(newline, from)) !== -1; from = end + 1) {
      yield Buffer.concat([...pieces, chunk.subarray(from, end)]).toString("utf8");
      pieces = [];
    }
    pieces.push(chunk.subarray(from));
  }
  const rest = Buffer.concat(pieces).toString("utf8");
  if (rest !== "") yield rest;
}

/** Hash of the file's bytes and the number of its lines. */
export async function sumOfFile(
  path: string,
  signal?: AbortSignal,
): Promise<{ readonly rows: number; readonly size: number; readonly sha256: string }> {
  const hash = createHash("sha256");
  let rows = 0;
  let size = 0;
  for await (const chunk of createReadStream(path, { signal }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size += chunk.length;
    for (let at = -1; (at = chunk.indexOf(newline, at + 1)) !== -1;) rows++;
  }
  return { rows, size, sha256: hash.digest("hex") };
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
