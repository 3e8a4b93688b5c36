import pg from "pg";
import { Unavailable } from "../../protocol/base/errors.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Database } from "./database.ts";
import { type Deadlines, defaultDeadlines, type Kind, settingsOf, urlWith } from "./postgres-kinds.ts";
import { openListener } from "./postgres-listener.ts";
import { openPool, type PostgresPool } from "./postgres-pool.ts";
import { parsers } from "./values.ts";

export type PostgresOptions = {
  readonly url: string;
  /** Connections at most, besides the one for notifications. */
  readonly connections?: number;
  /** How long statements of each kind may take. */
  readonly deadlines?: Deadlines;
  readonly log?: Log;
};

const oldestVersion = 15;
/** Of all connections of a node, many may be found dead at once. */
const quietMs = 10_000;

/** A PostgreSQL server. Throws Unavailable if it can't be reached or is older than 15. */
export async function openPostgres({
  url,
  connections = 20,
  deadlines = defaultDeadlines,
  log,
}: PostgresOptions): Promise<Database> {
  const types = new pg.TypeOverrides();
  for (const [oid, parser] of Object.entries(parsers)) types.setTypeParser(Number(oid), parser);
  const config = {
    connectionString: url,
    types,
    application_name: "colloquy",
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
  const label = labelOf(config);
  let toldAt = -Infinity;
  const onSilence = (silentMs: number): void => {
    pools.heart.drop(silentMs);
    pools.listing.drop(silentMs);
    // What goes over whole tables is silent for long by nature, and too dear to be begun again on a suspicion.
    pools.maintenance.drop(Infinity);
    if (performance.now() - toldAt > quietMs)
      log?.warn({}, "PostgreSQL does not answer on a connection; all that were idle are made anew.");
    toldAt = performance.now();
  };
  const open = (kind: Kind): PostgresPool =>
    openPool({
      ...{ kind, config, label, log, onSilence },
      settings: settingsOf(kind, deadlines, connections),
      onTrip: (text) => heart.onTrip?.(text),
    });
  const pools = { heart: open("heart"), listing: open("listing"), maintenance: open("maintenance") };
  const { options, connectMs, statementMs } = settingsOf("heart", deadlines, connections);
  const listenerConfig = { ...config, connectionString: urlWith(url, options), connectionTimeoutMillis: connectMs };
  const listener = openListener(() => new pg.Client(listenerConfig), { answerMs: statementMs, log });

  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= Promise.all([listener.close(), ...Object.values(pools).map((pool) => pool.close())]).then(() => {}));
  /** Each kind leads to the others, whichever of them somebody was given. */
  const viewOf = ({ query, script, transaction }: PostgresPool): Database => ({
    ...{ kind: "postgres", label, query, script, transaction, listen: listener.listen, close },
    get listing() {
      return listing;
    },
    get maintenance() {
      return maintenance;
    },
  });
  const heart = viewOf(pools.heart);
  const listing = viewOf(pools.listing);
  const maintenance = viewOf(pools.maintenance);

  try {
    const [row] = await heart.query<{ number: string; name: string }>(
      "select current_setting('server_version_num') as number, current_setting('server_version') as name",
    );
    if (Number(row!.number) < oldestVersion * 10_000) {
      throw new Unavailable(`${label} is PostgreSQL ${row!.name}; ${oldestVersion} or newer is needed.`, {
        code: "database_too_old",
      });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return heart;
}

function labelOf(config: pg.ClientConfig): string {
  const { user, host, port, database } = new pg.Client(config);
  return `postgres://${user}@${host}:${port}/${database}`;
}
