import { join } from "node:path";
import { z } from "zod";
import { ColloquyError, Conflict, InvalidInput } from "../../protocol/base/errors.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { copyWhole, isMovedPath, statsOf } from "./data-files.ts";
import type { Database } from "../driver/database.ts";
import { everySeconds, type MoveOptions } from "./export.ts";
import {
  type FileLine,
  fileLineSchema,
  linesOf,
  type ExportManifest,
  readManifest,
  sumOfFile,
} from "./export-format.ts";
import { getMeta, setMeta } from "../schema/meta.ts";
import { migrate, migrationNames } from "../schema/migrate.ts";
import { importKey, type MovedTable, movedTables } from "./moved-tables.ts";
import { columnsOf, oneMoment, sumOf } from "./table-lines.ts";

const batchRows = 500;
const batchCharacters = 4 * 1024 * 1024;

/** In meta while an import is at work: the export, and the lines of a table that are in; tables before it are whole. */
const progressSchema = z.object({ id: z.guid(), table: z.string(), lines: z.int() });
type ImportProgress = z.infer<typeof progressSchema>;

/**
 * Brings a finished export into an empty database and its data directory, and then compares count and hash of every table
 * with the export's. Called again after it was broken off, it goes on where it was. Throws InvalidInput for a damaged
 * export, before anything is written, and Conflict for a target that holds something else.
 */
export async function importAll(database: Database, options: MoveOptions): Promise<ExportManifest> {
  const { folder, onProgress = () => {} } = options;
  const manifest = await readManifest(folder);
  await checkExport(manifest, options);
  await checkFiles(options);
  await migrateTo(database, manifest);
  const progress = await beginOrGoOn(database.query, manifest);
  if (progress.lines > 0) onProgress(`goes on in ${progress.table}, after ${progress.lines} rows`);

  const tables = tablesOf(manifest);
  for (const table of tables.slice(tables.findIndex((one) => one.table === progress.table)))
    await importTable(database, table, {
      ...options,
      id: manifest.id,
      after: table.table === progress.table ? progress.lines : 0,
    });
  await setCounters(database.query, manifest);
  await importFiles(options);
  await verify(database, manifest, options);

  await migrate(database);
  await database.query("delete from meta where key = $1", [importKey]);
  await database.query("analyze");
  return manifest;
}

/** For every start, before it migrates: a database that is only half there must not be used. Throws Conflict. */
export async function refuseHalfImported(query: Query): Promise<void> {
  const [meta] = await query<{ exists: boolean }>("select to_regclass('meta') is not null as exists");
  if (!meta!.exists || (await getMeta(query, importKey)) === undefined) return;
  throw new Conflict("An import into this database has not finished. Run the same `./colloquy import` again.", {
    code: "import_unfinished",
  });
}

function tablesOf(manifest: ExportManifest): readonly MovedTable[] {
  return manifest.tables.map(({ table }) => {
    const moved = movedTables.find((one) => one.table === table);
    if (!moved)
      throw new InvalidInput(`The export has a table ${table} that this version doesn't know.`, {
        code: "export_newer",
      });
    return moved;
  });
}

async function checkExport(
  manifest: ExportManifest,
  { folder, onProgress = () => {}, signal }: MoveOptions,
): Promise<void> {
  const sums = [
    ...manifest.tables.map(({ table, ...sum }) => ({ name: `${table}.jsonl`, ...sum })),
    { name: "files.jsonl", ...manifest.files },
  ];
  const tell = everySeconds(onProgress);
  for (const { name, rows, sha256 } of sums) {
    tell(`checking ${name}`);
    const isThere = (await statsOf(join(folder, name))) !== undefined;
    const sum = isThere ? await sumOfFile(join(folder, name), signal) : undefined;
    if (sum?.rows !== rows || sum.sha256 !== sha256) throw damaged(name);
  }
}

/** Nothing in the data directory is overwritten; what is there already may be the same. */
async function checkFiles({ folder, dataDirectory, signal }: MoveOptions): Promise<void> {
  for await (const file of filesOf(folder)) {
    signal?.throwIfAborted();
    if ((await statsOf(join(folder, "files", file.path)))?.size !== file.size) throw damaged(`files/${file.path}`);
    if ((await standing(dataDirectory, file)) === "other")
      throw new Conflict(
        `${join(dataDirectory, file.path)} exists and is not the export's; use an empty data directory.`,
        {
          code: "target_not_empty",
        },
      );
  }
}

async function standing(dataDirectory: string, { path, size, sha256 }: FileLine): Promise<"none" | "same" | "other"> {
  const place = join(dataDirectory, path);
  const stats = await statsOf(place);
  if (!stats) return "none";
  return stats.isFile() && stats.size === size && (await sumOfFile(place)).sha256 === sha256 ? "same" : "other";
}

async function* filesOf(folder: string): AsyncGenerator<FileLine> {
  for await (const line of linesOf(join(folder, "files.jsonl"))) {
    const file = fileLineSchema.parse(JSON.parse(line));
    if (!isMovedPath(file.path))
      throw new InvalidInput(`The export names a file ${file.path}.`, { code: "export_damaged" });
    yield file;
  }
}

/** The tables as they were when the rows were read; later migrations come after the rows. */
async function migrateTo(database: Database, manifest: ExportManifest): Promise<void> {
  const newer = manifest.migrations.filter((name) => !migrationNames.includes(name));
  if (newer.length > 0)
    throw new Conflict(`The export was made by a newer version of Colloquy: it has ${newer.join(", ")}.`, {
      code: "export_newer",
    });
  await migrate(database, { only: (name) => manifest.migrations.includes(name) });
}

async function beginOrGoOn(query: Query, manifest: ExportManifest): Promise<ImportProgress> {
  const noted = await getMeta(query, importKey);
  if (noted !== undefined) {
    const progress = progressSchema.parse(JSON.parse(noted));
    if (progress.id === manifest.id) return progress;
    throw new Conflict("Another import into this database has not finished.", { code: "target_not_empty" });
  }
  for (const { table, only = "true" } of tablesOf(manifest)) {
    const rows = await query(`select 1 from "${table}" where ${only} limit 1`);
    if (rows.length > 0)
      throw new Conflict(
        `The target is not empty: its table ${table} has rows. Import into a new database in which no server was started.`,
        { code: "target_not_empty" },
      );
  }
  const progress: ImportProgress = { id: manifest.id, table: manifest.tables[0]?.table ?? "", lines: 0 };
  await setMeta(query, importKey, JSON.stringify(progress));
  return progress;
}

type TableOptions = MoveOptions & { readonly id: string; readonly after: number };

async function importTable(
  database: Database,
  { table }: MovedTable,
  { folder, onProgress = () => {}, signal, id, after }: TableOptions,
): Promise<void> {
  const columns = (await columnsOf(database.query, table)).map(({ name }) => `"${name}"`).join(", ");
  const tell = everySeconds(onProgress);
  let lines = 0;
  for await (const batch of batchesOf(join(folder, `${table}.jsonl`), after)) {
    signal?.throwIfAborted();
    lines = batch.last;
    // A batch and the note of it are one; rows that are in already can only be the export's own.
    await database.transaction(async (query) => {
      await query(
        `insert into "${table}" (${columns}) overriding system value
         select ${columns} from jsonb_populate_recordset(null::"${table}", $1::jsonb) on conflict do nothing`,
        [`[${batch.lines.join(",")}]`],
      );
      await setMeta(query, importKey, JSON.stringify({ id, table, lines } satisfies ImportProgress));
    });
    tell(`${table}: ${lines} rows so far`);
  }
  onProgress(`${table}: ${lines} rows`);
}

async function* batchesOf(
  path: string,
  after: number,
): AsyncGenerator<{ readonly lines: readonly string[]; readonly last: number }> {
  let lines: string[] = [];
  let characters = 0;
  let last = 0;
  for await (const line of linesOf(path)) {
    if (++last <= after) continue;
    lines.push(line);
    characters += line.length;
    if (lines.length < batchRows && characters < batchCharacters) continue;
    yield { lines, last };
    lines = [];
    characters = 0;
  }
  if (lines.length > 0) yield { lines, last };
}

async function setCounters(query: Query, { counters }: ExportManifest): Promise<void> {
  for (const { table, column, value, used } of counters)
    await query("select setval(pg_get_serial_sequence(quote_ident($1), $2)::regclass, $3, $4)", [
      table,
      column,
      value,
      used,
    ]);
}

async function importFiles({ folder, dataDirectory, onProgress = () => {}, signal }: MoveOptions): Promise<void> {
  const tell = everySeconds(onProgress);
  let count = 0;
  for await (const file of filesOf(folder)) {
    if ((await standing(dataDirectory, file)) !== "same") {
      const { path, mode, sha256 } = file;
      const copied = await copyWhole(join(folder, "files", path), join(dataDirectory, path), { mode, signal });
      if (copied.sha256 !== sha256) throw damaged(`files/${path}`);
    }
    tell(`${++count} files so far`);
  }
  onProgress(`${count} files`);
}

/** The rows as they now stand, read back, are those of the export. */
async function verify(
  database: Database,
  manifest: ExportManifest,
  { onProgress = () => {}, signal }: MoveOptions,
): Promise<void> {
  await database.transaction(async (query) => {
    for (const table of tablesOf(manifest)) {
      const expected = manifest.tables.find((one) => one.table === table.table)!;
      const found = await sumOf(query, table, signal);
      if (found.rows !== expected.rows || found.sha256 !== expected.sha256)
        throw new ColloquyError(
          "import_differs",
          500,
          `After the import the table ${table.table} has ${found.rows} rows, but not those of the export (${expected.rows}).`,
        );
    }
  }, oneMoment);
  onProgress("all tables compared: the same counts and hashes");
}

function damaged(name: string): InvalidInput {
  return new InvalidInput(`The export is damaged: ${name} doesn't match the manifest.`, { code: "export_damaged" });
}
