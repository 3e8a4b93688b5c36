import type { Config } from "../config/schema.ts";
import type { Log } from "../protocol/base/log.ts";
import type { Database } from "../store/driver/database.ts";
import { refuseHalfImported } from "../store/moving/import.ts";
import { migrate } from "../store/schema/migrate.ts";
import { ensureSecret, type FileProof, proveFiles } from "../store/installation/data-folder.ts";
import { closeDataFolder, howToClose, mendedText } from "../store/installation/data-modes.ts";
import { openDatabase, type OpenOptions } from "../store/driver/open.ts";
import { ensureOwner } from "../store/people/users.ts";

/** How to close what was opened, in the order of opening. */
export type Opened = (() => Promise<unknown> | void)[];

export type Store = {
  readonly database: Database;
  /** What seals and signs: the same for every node of the database. */
  readonly secret: Awaited<ReturnType<typeof ensureSecret>>;
  readonly fileProof: FileProof;
  readonly owner: Awaited<ReturnType<typeof ensureOwner>>;
};

/** What the configuration says of PostgreSQL. */
export function postgresOf({ database }: Config): Pick<OpenOptions, "url" | "connections" | "deadlines"> {
  const { url, connections, ...deadlines } = database;
  return { ...(url === undefined ? {} : { url }), connections, deadlines };
}

/** The database of the configuration, migrated, with what every node of it shares. */
export async function openStore(
  config: Config,
  {
    log,
    onStep,
    opened,
  }: { readonly log: Log; readonly onStep: ((text: string) => void) | undefined; readonly opened: Opened },
): Promise<Store> {
  const database = await openDatabase({
    ...postgresOf(config),
    dataDirectory: config.data,
    log,
    ...(onStep ? { onStep } : {}),
  });
  opened.push(database.close);
  const { mended, open } = closeDataFolder(config.data, { deep: false });
  if (mended > 0) log.warn({ data: config.data }, mendedText(mended));
  for (const path of open) log.warn({ path }, howToClose(path));
  await refuseHalfImported(database.query);
  await migrate(database.maintenance);
  const secret = await ensureSecret(database.query, {
    dataDirectory: config.data,
    ...(config.secret === undefined ? {} : { configured: config.secret }),
  });
  const fileProof = await proveFiles(database, config.data);
  if (fileProof === "apart")
    log.warn({ data: config.data }, "this is not the data directory of the other nodes: no work with files here");
  return { database, secret, fileProof, owner: await ensureOwner(database.query) };
}
