import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { Unavailable, messageOf } from "../protocol/errors.ts";
import type { Query } from "../protocol/tools.ts";
import type { Log } from "../protocol/log.ts";
import type { Database } from "./database.ts";
import { openListener } from "./postgres-listener.ts";
import { planIsStale, sqlState } from "./sql-state.ts";
import { createStatementNames } from "./statement-names.ts";
import type { Tables } from "./tables.ts";
import { runTransaction } from "./transaction.ts";
import { parsers } from "./values.ts";

export type PostgresOptions = {
  readonly url: string;
  /** Connections at most, besides the one for notifications. */
  readonly connections?: number;
  readonly log?: Log;
};

const oldestVersion = 15;
const connectTimeoutMs = 10_000;

/** A PostgreSQL server. Throws Unavailable if it can't be reached or is older than 15. */
export async function openPostgres({ url, connections = 20, log }: PostgresOptions): Promise<Database> {
  const types = new pg.TypeOverrides();
  for (const [oid, parser] of Object.entries(parsers)) types.setTypeParser(Number(oid), parser);
  const config: pg.ClientConfig = {
    connectionString: url,
    types,
    application_name: "colloquy",
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
  const label = labelOf(config);
  const pool = new pg.Pool({ ...config, max: connections });
  pool.on("error", (error) => log?.warn({ error: error.message }, "An idle connection to PostgreSQL was lost."));
  // A lost connection fails its statement; without a listener its event would end the process as well.
  pool.on("connect", (client) => client.on("error", () => {}));
  const names = createStatementNames();
  let closing: Promise<void> | undefined;
  const listener = openListener(() => new pg.Client(config), log);

  async function withClient<Value>(use: (client: pg.PoolClient) => Promise<Value>): Promise<Value> {
    let client: pg.PoolClient;
    try {
      client = await pool.connect();
    } catch (cause) {
      throw unreachable(label, cause);
    }
    try {
      return await use(client);
    } finally {
      // A transaction whose rollback has failed too: not used again.
      client.release(client.getTransactionStatus() !== "I");
    }
  }

  async function send(client: pg.PoolClient, text: string, values?: readonly unknown[]): Promise<pg.QueryResult> {
    database.onTrip?.(text);
    try {
      if (!values?.length) return await client.query(text);
      return await client.query({ name: names.of(text), text, values: values as unknown[] });
    } catch (error) {
      if (sqlState(error) === planIsStale) names.renew();
      if (error instanceof pg.DatabaseError && !isLoss(error)) throw error;
      throw unreachable(label, error);
    }
  }

  /** Committed by itself. A script may have failed between its own BEGIN and COMMIT; the next user must not find that. */
  async function sendAlone(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]> {
    return withClient(async (client) => {
      try {
        return rowsOf(await send(client, text, values));
      } catch (error) {
        if (!values?.length) await client.query("rollback").catch(() => {});
        throw error;
      }
    });
  }

  const database: Database = {
    kind: "postgres",
    label,
    kysely: new Kysely<Tables>({
      dialect: new PostgresDialect({ pool }),
      log: (event) => database.onTrip?.(event.query.sql),
    }),
    query: async <Row extends object>(text: string, values?: readonly unknown[]) =>
      (await sendAlone(text, values)) as Row[],
    script: (text) => sendAlone(text),
    transaction: (body, options) =>
      withClient((client) => {
        const query: Query = async <Row extends object>(text: string, values?: readonly unknown[]) =>
          rowsOf(await send(client, text, values)) as Row[];
        return runTransaction({ query, end: async (text) => (await send(client, text)).command }, body, options);
      }),
    listen: listener.listen,
    close: () => (closing ??= Promise.all([listener.close(), pool.end()]).then(() => {})),
  };

  try {
    const [row] = await database.query<{ number: string; name: string }>(
      "select current_setting('server_version_num') as number, current_setting('server_version') as name",
    );
    if (Number(row!.number) < oldestVersion * 10_000) {
      throw new Unavailable(`${label} is PostgreSQL ${row!.name}; ${oldestVersion} or newer is needed.`, {
        code: "database_too_old",
      });
    }
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

/** Of several statements, the rows of all in order: `pg` then gives an array of results. */
function rowsOf(result: pg.QueryResult | pg.QueryResult[]): Record<string, unknown>[] {
  return Array.isArray(result) ? result.flatMap(({ rows }) => rows) : result.rows;
}

/** The server ended the connection (administrator, crash, shutdown, connection exceptions). */
function isLoss({ code }: pg.DatabaseError): boolean {
  return code !== undefined && (code.startsWith("57P") || code.startsWith("08"));
}

function labelOf(config: pg.ClientConfig): string {
  const { user, host, port, database } = new pg.Client(config);
  return `postgres://${user}@${host}:${port}/${database}`;
}

function unreachable(label: string, cause: unknown): Unavailable {
  // A refused connection to a name with several addresses is an AggregateError without a message of its own.
  const reason = cause instanceof AggregateError ? cause.errors.map(messageOf).join("; ") : messageOf(cause);
  return new Unavailable(`No connection to ${label}: ${reason}`, { code: "database_unavailable", cause });
}
