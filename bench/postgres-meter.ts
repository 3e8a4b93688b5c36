import { readFile } from "node:fs/promises";
import pg from "pg";

/** What a PostgreSQL server has used since it started, all its databases together. */
export type PostgresUse = { readonly cpuMs: number; readonly walBytes: number; readonly statements: number };

export type PostgresMeter = {
  read(): Promise<PostgresUse>;
  /** How often statements were sent whose text has this pattern, if they are counted. */
  calls(pattern: string): Promise<number>;
  stop(): Promise<void>;
};

/**
 * Settings of a server that is measured: no checkpoint falls into a round, as the first change of a page after one
 * writes the whole page to the WAL.
 */
export const meteredSettings = { max_wal_size: "16GB", checkpoint_timeout: "1d", max_connections: "400" };

/** Further settings, so that statements are counted too; those inside of functions are, as they are work as well. */
export const countedSettings = {
  ...meteredSettings,
  shared_preload_libraries: "pg_stat_statements",
  "pg_stat_statements.track": "all",
  "pg_stat_statements.max": "10000",
};

const tickMs = 10;

async function statOf(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8");
  // The name before it may have blanks and parentheses.
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** Of one process that lives: the scheduler's nanoseconds; where it does not keep them, ticks. */
async function livingMs(pid: number): Promise<number> {
  try {
    const [nanoseconds] = (await readFile(`/proc/${pid}/schedstat`, "utf8")).split(" ");
    if (Number(nanoseconds) > 0) return Number(nanoseconds) / 1e6;
    const stat = await statOf(pid);
    return (Number(stat[11]) + Number(stat[12])) * tickMs;
  } catch (error) {
    // It has ended: its parent has its time.
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return 0;
    throw error;
  }
}

/** Of the postmaster, its living processes, and those that have ended. */
async function cpuOf(postmaster: number, except: number): Promise<number> {
  const children = (await readFile(`/proc/${postmaster}/task/${postmaster}/children`, "utf8")).trim().split(" ");
  const pids = [postmaster, ...children.map(Number).filter((pid) => pid > 0 && pid !== except)];
  const living = await Promise.all(pids.map(livingMs));
  const stat = await statOf(postmaster);
  return living.reduce((sum, ms) => sum + ms, 0) + (Number(stat[13]) + Number(stat[14])) * tickMs;
}

/** Reads the server of this URL, which is on this machine; its own connection is left out. */
export async function startPostgresMeter(url: string): Promise<PostgresMeter> {
  const client = new pg.Client(url);
  await client.connect();
  const own = await client.query<{ pid: number; counted: string }>(
    "select pg_backend_pid() as pid, current_setting('shared_preload_libraries') as counted",
  );
  const { pid = 0, counted = "" } = own.rows[0] ?? {};
  const postmaster = Number((await statOf(pid))[1]);
  const counts = counted.includes("pg_stat_statements");
  if (counts) await client.query("create extension if not exists pg_stat_statements");
  const text = `select (pg_current_wal_insert_lsn() - '0/0')::float8 as wal, ${
    counts
      ? "(select sum(calls)::float8 from pg_stat_statements where query not like '%pg_stat_statements%')"
      : "'nan'::float8"
  } as statements`;
  return {
    async read() {
      const { rows } = await client.query<{ wal: number; statements: number }>(text);
      const [use] = rows;
      if (!use) throw new Error("PostgreSQL tells nothing of itself.");
      return { cpuMs: await cpuOf(postmaster, pid), walBytes: use.wal, statements: use.statements };
    },
    async calls(pattern) {
      const { rows } = await client.query<{ calls: number }>(
        "select coalesce(sum(calls), 0)::float8 as calls from pg_stat_statements where query ~* $1 and query not like '%pg_stat_statements%'",
        [pattern],
      );
      return rows[0]?.calls ?? NaN;
    },
    stop: () => client.end(),
  };
}
