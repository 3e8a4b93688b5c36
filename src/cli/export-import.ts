import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { stopSignal } from "./stop-signal.ts";
import { postgresOf } from "../app/store.ts";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { writeOutput } from "./closed-pipe.ts";
import { ColloquyError, Conflict, InvalidInput } from "../protocol/base/errors.ts";
import type { Database } from "../store/driver/database.ts";
import { exportAll } from "../store/moving/export.ts";
import type { ExportManifest } from "../store/moving/export-format.ts";
import { importAll, refuseHalfImported } from "../store/moving/import.ts";
import { migrate } from "../store/schema/migrate.ts";
import { openDatabase } from "../store/driver/open.ts";

/** `colloquy export <folder>`: all rows and files into a folder. Ctrl+C interrupts; running it again resumes. */
export async function exportTo(folder: string | undefined): Promise<number> {
  const config = loadConfig();
  const target = folderOf("export", folder);
  if (config.database.url === undefined && !existsSync(join(config.data, "db")))
    throw new InvalidInput(`Nothing to export: ${config.data} has no database.`);
  const manifest = await withDatabase(config, "export", async (database, signal) => {
    await refuseHalfImported(database.query);
    await migrate(database);
    return exportAll(database, { folder: target, dataDirectory: config.data, onProgress: tell, signal });
  });
  return report(
    `${summary(manifest)} exported to ${target}. It contains secrets: keep it as safe as the data directory.`,
  );
}

/** `colloquy import <folder>`: an export into the empty database and data directory of the configuration. */
export async function importFrom(folder: string | undefined): Promise<number> {
  const config = loadConfig();
  const source = folderOf("import", folder);
  const manifest = await withDatabase(config, "import", (database, signal) =>
    importAll(database, { folder: source, dataDirectory: config.data, onProgress: tell, signal }),
  );
  return report(`${summary(manifest)} imported and verified. Unfinished runs continue when the server starts.`);
}

/** Prints the result. Fails if standard output is closed, since the user would not learn that the data arrived. */
async function report(text: string): Promise<number> {
  if (await writeOutput(text)) return 0;
  throw new ColloquyError("output_closed", 500, `Standard output was closed. ${text}`);
}

function folderOf(command: string, folder: string | undefined): string {
  if (folder === undefined) throw new InvalidInput(`./colloquy ${command} <folder>`);
  return resolve(folder);
}

async function withDatabase(
  config: Config,
  command: string,
  body: (database: Database, signal: AbortSignal) => Promise<ExportManifest>,
): Promise<ExportManifest> {
  const control = new AbortController();
  void stopSignal().then(() =>
    control.abort(new ColloquyError("broken_off", 499, "Interrupted. Run the same command again to continue.")),
  );
  const database = await open(config, command);
  try {
    return await body(database.maintenance, control.signal);
  } finally {
    await database.close();
  }
}

async function open(config: Config, command: string): Promise<Database> {
  try {
    return await openDatabase({ ...postgresOf(config), dataDirectory: config.data, onStep: tell });
  } catch (error) {
    if (!(error instanceof Conflict) || error.code !== "data_in_use") throw error;
    throw new Conflict(`${error.message} Stop it first: ${command} needs exclusive access to the database.`, {
      code: error.code,
      cause: error,
    });
  }
}

function summary({ tables, files }: ExportManifest): string {
  return `${tables.reduce((sum, { rows }) => sum + rows, 0)} rows and ${files.rows} files`;
}

function tell(text: string): void {
  console.error(text);
}
