import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { loadConfig, type Config } from "./config.ts";
import { ColloquyError, Conflict, InvalidInput } from "./protocol/errors.ts";
import type { Database } from "./store/database.ts";
import { exportAll } from "./store/export.ts";
import type { Manifest } from "./store/export-format.ts";
import { importAll, refuseHalfImported } from "./store/import.ts";
import { migrate } from "./store/migrate.ts";
import { openDatabase } from "./store/open.ts";

/** `colloquy export <folder>`: all rows and files into a folder. Ctrl+C breaks it off; the same command goes on. */
export async function exportTo(folder: string | undefined): Promise<number> {
  const config = loadConfig();
  const target = folderOf("export", folder);
  if (config.database === undefined && !existsSync(join(config.data, "db")))
    throw new InvalidInput(`There is nothing to export: ${config.data} holds no database.`);
  const manifest = await move(config, "export", async (database, signal) => {
    await refuseHalfImported(database.query);
    await migrate(database);
    return exportAll(database, { folder: target, dataDirectory: config.data, onProgress: tell, signal });
  });
  console.log(`${summary(manifest)} exported to ${target}. It holds secrets: keep it as safe as the data directory.`);
  return 0;
}

/** `colloquy import <folder>`: an export into the empty database and data directory of the configuration. */
export async function importFrom(folder: string | undefined): Promise<number> {
  const config = loadConfig();
  const source = folderOf("import", folder);
  const manifest = await move(config, "import", (database, signal) =>
    importAll(database, { folder: source, dataDirectory: config.data, onProgress: tell, signal }),
  );
  console.log(`${summary(manifest)} imported and compared. What was at work goes on when the server starts.`);
  return 0;
}

function folderOf(command: string, folder: string | undefined): string {
  if (folder === undefined) throw new InvalidInput(`colloquy ${command} <folder>`);
  return resolve(folder);
}

async function move(
  config: Config,
  command: string,
  body: (database: Database, signal: AbortSignal) => Promise<Manifest>,
): Promise<Manifest> {
  const control = new AbortController();
  const stop = () =>
    control.abort(new ColloquyError("broken_off", 499, "Broken off. The same command goes on where it was."));
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, stop);
  const database = await open(config, command);
  try {
    return await body(database, control.signal);
  } finally {
    await database.close();
  }
}

async function open({ data, database: url }: Config, command: string): Promise<Database> {
  try {
    return await openDatabase({ dataDirectory: data, onStep: tell, ...(url === undefined ? {} : { url }) });
  } catch (error) {
    if (!(error instanceof Conflict) || error.code !== "data_in_use") throw error;
    throw new Conflict(`${error.message} Stop it first: ${command} needs the database for itself.`, {
      code: error.code,
      cause: error,
    });
  }
}

function summary({ tables, files }: Manifest): string {
  return `${tables.reduce((sum, { rows }) => sum + rows, 0)} rows and ${files.rows} files`;
}

function tell(text: string): void {
  console.error(text);
}
