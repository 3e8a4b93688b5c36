import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { Unavailable } from "../../protocol/base/errors.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Database } from "./database.ts";
import { graceMs } from "./deadline.ts";
import { type Deadlines, defaultDeadlines, type StatementClass, settingsOf, urlWith } from "./statement-classes.ts";
import { openListener } from "./postgres-listener.ts";
import { openPool, type PostgresPool } from "./postgres-pool.ts";
import { parsers } from "./values.ts";

export type PostgresOptions = {
  readonly url: string;
  /** Connections at most, besides one for notifications and one for signs of life. */
  readonly connections?: number;
  /** How long statements of each kind may take. */
  readonly deadlines?: Deadlines;
  readonly log?: Log;
};

const oldestVersion = 15;
/** Pause between reports of dead connections: many of a node may be found dead at once. */
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
  let closing: Promise<void> | undefined;
  const onSilence = (): void => {
    for (const pool of Object.values(pools)) pool.dropIdle();
    void dropUnanswered();
    if (performance.now() - toldAt > quietMs)
      log?.warn({}, "PostgreSQL does not answer on a connection; all that were idle are made anew.");
    toldAt = performance.now();
  };
  /** Whether connections for lists and maintenance are being checked: their deadlines are far away, and their statements too expensive to restart on a suspicion. */
  let asks = false;
  async function dropUnanswered(): Promise<void> {
    if (asks) return;
    asks = true;
    while (!closing)
      try {
        await Promise.all([pools.listing, pools.maintenance].map((pool) => pool.dropUnanswered(backendsAtWork)));
        break;
      } catch {
        // It is away still, which others tell.
        await delay(graceMs, undefined, { ref: false });
      }
    asks = false;
  }
  const backendsAtWork = async (pids: readonly number[]): Promise<ReadonlySet<number>> => {
    const rows = await heart.query<{ pid: number }>(
      "select pid from pg_stat_activity where pid = any ($1::integer[]) and coalesce(state, '') not like 'idle%'",
      [pids],
    );
    return new Set(rows.map(({ pid }) => pid));
  };
  const open = (kind: StatementClass): PostgresPool =>
    openPool({
      ...{ kind, config, label, log, onSilence },
      settings: settingsOf(kind, deadlines, connections),
      onTrip: (text) => heart.onTrip?.(text),
    });
  const pools = {
    pulse: open("pulse"),
    heart: open("heart"),
    listing: open("listing"),
    maintenance: open("maintenance"),
  };
  const { options, connectMs, statementMs } = settingsOf("heart", deadlines, connections);
  const listenerConfig = { ...config, connectionString: urlWith(url, options), connectionTimeoutMillis: connectMs };
  const listener = openListener(() => new pg.Client(listenerConfig), { answerMs: statementMs, log });

  const close = (): Promise<void> =>
    (closing ??= Promise.all([listener.close(), ...Object.values(pools).map((pool) => pool.close())]).then(() => {}));
  /** Each kind leads to the others, whichever of them somebody was given. */
  const viewOf = ({ query, script, transaction }: PostgresPool): Database => ({
    ...{ kind: "postgres", label, query, script, transaction, listen: listener.listen, close },
    get pulse() {
      return pulse;
    },
    get listing() {
      return listing;
    },
    get maintenance() {
      return maintenance;
    },
  });
  const pulse = viewOf(pools.pulse);
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
