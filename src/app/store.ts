import type { Config } from "../config/schema.ts";
import { InvalidInput } from "../protocol/base/errors.ts";
import type { Log } from "../protocol/base/log.ts";
import type { NodeNotices } from "../protocol/base/node-notices.ts";
import type { HealthDetails } from "../http/server/services.ts";
import type { Finding } from "../protocol/people/overview.ts";
import type { Database } from "../store/driver/database.ts";
import { refuseHalfImported } from "../store/moving/import.ts";
import { migrate } from "../store/schema/migrate.ts";
import { ensureSecret, type FileProof, proveFiles } from "../store/installation/data-folder.ts";
import { closeDataFolder, chmodHint, fixedModesText } from "../store/installation/data-modes.ts";
import { checkConnections } from "../store/installation/connection-room.ts";
import { examineDatabase } from "../store/installation/examine-database.ts";
import { openNodeNotices } from "../store/installation/node-notices.ts";
import { preparedDatabase } from "../store/schema/prepared-database.ts";
import { openDatabase, type DatabaseOptions } from "../store/driver/open.ts";
import { ensureOwner } from "../store/people/users.ts";
import { createCapabilityStack } from "./start/capability-stack.ts";

export type StoreOptions = {
  readonly log: Log;
  /** What takes so long, for a person. */
  readonly onStep?: (text: string) => void;
  /** Nothing works any more in this process; what was accepted goes on at the next start. */
  readonly onFatal?: (error: Error) => void;
};

export type Store = {
  readonly database: Database;
  /** What seals and signs: the same for every node of the database. */
  readonly secret: Awaited<ReturnType<typeof ensureSecret>>;
  readonly fileProof: FileProof;
  readonly owner: Awaited<ReturnType<typeof ensureOwner>>;
  /** To and from the other nodes. */
  readonly notices: NodeNotices;
  readonly findings: (options: { readonly all: boolean }) => Promise<readonly Finding[]>;
  readonly health: () => HealthDetails;
  readonly close: () => Promise<void>;
};

/** What the configuration says of PostgreSQL. */
export function postgresOf({ database }: Config): Pick<DatabaseOptions, "url" | "connections" | "deadlines"> {
  const { url, connections, ...deadlines } = database;
  return { ...(url === undefined ? {} : { url }), connections, deadlines };
}

/** One process may have got along with fewer than it could open until now; several would find that out under load. */
async function refuseTooManyConnections(
  { kind, query }: Database,
  { workers, database, log }: Pick<Config, "workers" | "database"> & { readonly log: Log },
): Promise<void> {
  const problem = kind === "postgres" && (await checkConnections(query, { workers, ...database }));
  if (!problem) return;
  if (workers > 1) throw new InvalidInput(problem, { code: "too_many_connections" });
  log.warn({}, problem);
}

/** The database of the configuration, migrated, with what every node of it shares. */
export async function openStore(config: Config, { log, onStep, onFatal }: StoreOptions): Promise<Store> {
  await using opening = createCapabilityStack(log);
  const database = opening.add(
    await openDatabase({
      ...{ ...postgresOf(config), dataDirectory: config.data, prepared: preparedDatabase, log },
      ...(onStep ? { onStep } : {}),
    }),
  );
  await refuseTooManyConnections(database, { ...config, log });
  const { mended, open } = closeDataFolder(config.data, { deep: false });
  if (mended > 0) log.warn({ data: config.data }, fixedModesText(mended));
  for (const path of open) log.warn({ path }, chmodHint(path));
  await refuseHalfImported(database.query);
  await migrate(database.maintenance);
  const secret = await ensureSecret(database.query, {
    dataDirectory: config.data,
    ...(config.secret === undefined ? {} : { configured: config.secret }),
  });
  const fileProof = await proveFiles(database, config.data);
  if (fileProof === "apart")
    log.warn({ data: config.data }, "this is not the data directory of the other nodes: no work with files here");
  const owner = await ensureOwner(database.query);
  const notices = opening.add(await openNodeNotices(database, log));
  void database.failed?.then((error) => onFatal?.(error));
  return {
    ...{ database, secret, fileProof, owner, notices },
    findings: (options) => examineDatabase(database.maintenance, { ...options, dataDirectory: config.data, fileProof }),
    health: () => ({ database: database.label, files: fileProof }),
    close: opening.done(),
  };
}
