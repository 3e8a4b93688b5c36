import type { Config } from "./config.ts";
import type { Log } from "./protocol/log.ts";
import type { Database } from "./store/database.ts";
import { refuseHalfImported } from "./store/import.ts";
import { migrate } from "./store/migrate.ts";
import { ensureSecret, type FileProof, proveFiles } from "./store/node-marker.ts";
import { openDatabase } from "./store/open.ts";
import { ensureOwner } from "./store/users.ts";

/** How to close what was opened, in the order of opening. */
export type Opened = (() => Promise<unknown> | void)[];

export type Store = {
  readonly database: Database;
  /** What seals and signs: the same for every node of the database. */
  readonly secret: Awaited<ReturnType<typeof ensureSecret>>;
  readonly fileProof: FileProof;
  readonly owner: Awaited<ReturnType<typeof ensureOwner>>;
};

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
    ...(config.database === undefined ? {} : { url: config.database }),
    dataDirectory: config.data,
    log,
    ...(onStep ? { onStep } : {}),
  });
  opened.push(database.close);
  await refuseHalfImported(database.query);
  await migrate(database);
  const secret = await ensureSecret(database.query, {
    dataDirectory: config.data,
    ...(config.secret === undefined ? {} : { configured: config.secret }),
  });
  const fileProof = await proveFiles(database, config.data);
  if (fileProof === "apart")
    log.warn({ data: config.data }, "this is not the data directory of the other nodes: no work with files here");
  return { database, secret, fileProof, owner: await ensureOwner(database.query) };
}
