import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { appendFile, mkdir, open, readdir, truncate } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { z } from "zod";
import { Conflict, InvalidInput } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { copyWhole, filesBelow, statsOf } from "./data-files.ts";
import type { Database } from "../driver/database.ts";
import {
  exportFormat,
  type FileLine,
  fileLineSchema,
  linesOf,
  type ExportManifest,
  readJson,
  sumOfFile,
  writeJson,
} from "./export-format.ts";
import { type MovedTable, movedTables } from "./moved-tables.ts";
import { oneMoment, pagesOf, textOfLines } from "./table-lines.ts";

export type MoveOptions = {
  readonly dataDirectory: string;
  /** Where the export is, or is to be made. */
  readonly folder: string;
  /** How far it is, for a person. */
  readonly onProgress?: (text: string) => void;
  readonly signal?: AbortSignal;
};

const tableSchema = z.object({ table: z.string(), rows: z.int(), sha256: z.string() });

/** How far an export has come; it goes on from here, if the database is still as it was. */
const progressSchema = z.object({
  format: z.literal(exportFormat),
  id: z.guid(),
  startedAt: z.string(),
  /** Changes with every transaction that writes. */
  snapshot: z.string(),
  done: z.array(tableSchema),
  current: z.object({ table: z.string(), rows: z.int(), bytes: z.int(), key: z.array(z.unknown()) }).optional(),
});
type ExportProgress = z.infer<typeof progressSchema>;

const progressFile = "progress.json";

/**
 * Writes all rows and files into a folder. Called again for a folder that was broken off, it goes on where it was; rows
 * begin anew if anything was written to the database meanwhile, since they must be of one moment. Throws InvalidInput or
 * Conflict for a folder that is used otherwise.
 */
export async function exportAll(database: Database, options: MoveOptions): Promise<ExportManifest> {
  const { dataDirectory, folder, onProgress = () => {}, signal } = options;
  const earlier = await openFolder(folder, dataDirectory);
  const rows = await database.transaction(async (query) => {
    const snapshot = await snapshotOf(database, query);
    if (earlier && earlier.snapshot !== snapshot)
      onProgress("the database has changed since this export was interrupted: reading the rows again");
    const progress: ExportProgress =
      earlier?.snapshot === snapshot
        ? earlier
        : { format: exportFormat, id: newId(), startedAt: new Date().toISOString(), snapshot, done: [] };
    await writeJson(join(folder, progressFile), progress);
    const done = await exportTables(query, progress, options);
    return { ...progress, done, migrations: await migrationsOf(query), counters: await countersOf(query) };
  }, oneMoment);
  const files = await exportFiles({ dataDirectory, folder, onProgress, signal });
  const manifest: ExportManifest = {
    format: exportFormat,
    id: rows.id,
    source: database.kind,
    migrations: rows.migrations,
    tables: rows.done,
    counters: rows.counters,
    files,
    startedAt: rows.startedAt,
    finishedAt: new Date().toISOString(),
  };
  await writeJson(join(folder, "manifest.json"), manifest);
  return manifest;
}

/** Undefined: a new export. */
async function openFolder(folder: string, dataDirectory: string): Promise<ExportProgress | undefined> {
  if (!relative(resolve(dataDirectory), resolve(folder)).startsWith(".."))
    throw new InvalidInput(`The folder of an export can't be in the data directory ${dataDirectory}.`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const entries = await readdir(folder);
  if (entries.includes("manifest.json"))
    throw new Conflict(`${folder} contains a finished export; choose another folder, or remove it first.`, {
      code: "export_finished",
    });
  if (entries.length === 0) return undefined;
  const progress = progressSchema.safeParse(await readJson(join(folder, progressFile)));
  if (!progress.success)
    throw new Conflict(`${folder} is not empty, and not an export of this format.`, { code: "folder_not_empty" });
  return progress.data;
}

async function snapshotOf({ kind, label }: Database, query: Query): Promise<string> {
  const [row] = await query<{ next: string }>("select pg_snapshot_xmax(pg_current_snapshot())::text as next");
  return `${kind} ${label} ${row!.next}`;
}

async function exportTables(
  query: Query,
  progress: ExportProgress,
  options: MoveOptions,
): Promise<ExportProgress["done"]> {
  const { folder, onProgress = () => {}, signal } = options;
  let { done, current } = progress;
  // A database of before has no tables that came later.
  const there = await query<{ name: string }>("select tablename as name from pg_tables where schemaname = 'public'");
  const tables = movedTables.filter(({ table }) => there.some(({ name }) => name === table));
  for (const table of tables.slice(done.length)) {
    const path = join(folder, `${table.table}.jsonl`);
    const begun = current?.table === table.table ? await reopen(path, current) : undefined;
    const { rows, hash } = await exportTable(query, table, {
      path,
      begun,
      signal,
      save: (place) => writeJson(join(folder, progressFile), { ...progress, done, current: place }),
      onProgress,
    });
    done = [...done, { table: table.table, rows, sha256: hash.digest("hex") }];
    current = undefined;
    await writeJson(join(folder, progressFile), { ...progress, done, current });
    onProgress(`${table.table}: ${rows} rows`);
  }
  return done;
}

type TablePosition = NonNullable<ExportProgress["current"]>;
type ExportPosition = { readonly place: TablePosition; readonly hash: Hash };

/** Cuts off what was written after the last note; undefined if the disk lost what was noted. */
async function reopen(path: string, place: TablePosition): Promise<ExportPosition | undefined> {
  const stats = await statsOf(path);
  if (!stats || stats.size < place.bytes) return undefined;
  await truncate(path, place.bytes);
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) hash.update(chunk);
  return { place, hash };
}

async function exportTable(
  query: Query,
  table: MovedTable,
  {
    path,
    begun,
    signal,
    save,
    onProgress,
  }: {
    readonly path: string;
    readonly begun: ExportPosition | undefined;
    readonly signal: AbortSignal | undefined;
    readonly save: (place: TablePosition) => Promise<void>;
    readonly onProgress: (text: string) => void;
  },
): Promise<{ readonly rows: number; readonly hash: Hash }> {
  const hash = begun?.hash ?? createHash("sha256");
  let { rows, bytes } = begun?.place ?? { rows: 0, bytes: 0 };
  const tell = everySeconds(onProgress);
  const file = await open(path, begun ? "a" : "w", 0o600);
  try {
    for await (const { lines, key } of pagesOf(query, table, begun?.place.key)) {
      signal?.throwIfAborted();
      const text = Buffer.from(textOfLines(lines));
      await file.appendFile(text);
      hash.update(text);
      rows += lines.length;
      bytes += text.length;
      await save({ table: table.table, rows, bytes, key: [...key] });
      tell(`${table.table}: ${rows} rows so far`);
    }
    await file.datasync();
  } finally {
    await file.close();
  }
  return { rows, hash };
}

async function migrationsOf(query: Query): Promise<string[]> {
  return (await query<{ name: string }>("select name from migrations order by name")).map(({ name }) => name);
}

async function countersOf(query: Query): Promise<ExportManifest["counters"]> {
  const columns = await query<{ table: string; column: string; sequence: string }>(
    `select table_name as "table", column_name as "column", pg_get_serial_sequence(quote_ident(table_name), column_name) as sequence
     from information_schema.columns where table_schema = 'public' and is_identity = 'YES' order by 1, 2`,
  );
  const counters: ExportManifest["counters"] = [];
  for (const { table, column, sequence } of columns) {
    const [row] = await query<{ value: number; used: boolean }>(
      `select last_value as value, is_called as used from ${sequence}`,
    );
    counters.push({ table, column, ...row! });
  }
  return counters;
}

/** Files are noted one by one, so that what was copied is copied again only if it has changed. */
async function exportFiles({
  dataDirectory,
  folder,
  onProgress = () => {},
  signal,
}: MoveOptions): Promise<ExportManifest["files"]> {
  const notes = join(folder, "files.jsonl");
  const earlier = await notedFiles(notes);
  await (await open(notes, "w", 0o600)).close();
  const tell = everySeconds(onProgress);
  let rows = 0;
  for await (const { path, stats } of filesBelow(dataDirectory, (link) =>
    onProgress(`${link} is not a file: left out`),
  )) {
    signal?.throwIfAborted();
    const [size, mode, modifiedMs] = [stats.size, stats.mode & 0o777, stats.mtimeMs];
    const known = earlier.get(path);
    const same = known?.size === size && known.modifiedMs === modifiedMs && known.mode === mode;
    const copied = same
      ? known
      : await copyWhole(join(dataDirectory, path), join(folder, "files", path), { mode: 0o600, signal });
    const line: FileLine = { path, size: copied.size, sha256: copied.sha256, mode, modifiedMs };
    await appendFile(notes, `${JSON.stringify(line)}\n`);
    tell(`${++rows} files so far`);
  }
  const { sha256 } = await sumOfFile(notes);
  onProgress(`${rows} files`);
  return { rows, sha256 };
}

async function notedFiles(notes: string): Promise<ReadonlyMap<string, FileLine>> {
  const files = new Map<string, FileLine>();
  if (!(await statsOf(notes))) return files;
  for await (const line of linesOf(notes)) {
    const noted = fileLineSchema.safeParse(parsed(line));
    if (noted.success) files.set(noted.data.path, noted.data);
  }
  return files;
}

/** The last line may have been cut off. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Tells at most one thing in two seconds. */
export function everySeconds(tell: (text: string) => void): (text: string) => void {
  let last = performance.now();
  return (text) => {
    if (performance.now() - last < 2000) return;
    last = performance.now();
    tell(text);
  };
}
