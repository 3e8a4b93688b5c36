import { Socket } from "node:net";
import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { Unavailable, messageOf } from "../../protocol/base/errors.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Database } from "./database.ts";
import { graceMs, withDeadline } from "./deadline.ts";
import { type StatementClass, type KindSettings, urlWith } from "./statement-classes.ts";
import { lockNotAvailable, planIsStale, sqlState, statementCancelled } from "./sql-state.ts";
import { createStatementNames } from "./statement-names.ts";
import { runTransaction } from "./transaction.ts";

export type PoolOptions = {
  readonly kind: StatementClass;
  readonly settings: KindSettings;
  readonly config: pg.ClientConfig & { readonly connectionString: string };
  readonly label: string;
  readonly log: Log | undefined;
  readonly onTrip: (text: string) => void;
  /** A connection missed its deadline, so others may be as dead. */
  readonly onSilence: () => void;
};

export type PostgresPool = Pick<Database, "query" | "script" | "transaction"> & {
  /** Lets go of connections that nobody uses; what follows gets new ones. */
  readonly dropIdle: () => void;
  /** And of those that wait for an answer which will not come: their backend is gone, or at work no more. */
  readonly dropUnanswered: (atWork: (pids: readonly number[]) => Promise<ReadonlySet<number>>) => Promise<void>;
  readonly close: () => Promise<void>;
};

const closeMs = 3000;

/** Connections for statements of one kind. One that has missed its deadline is destroyed, never used again. */
export function openPool({ kind, settings, config, label, log, onTrip, onSilence }: PoolOptions): PostgresPool {
  const { connections, statementMs, connectMs, options } = settings;
  const sockets = new Set<Socket>();
  const pool = new pg.Pool({
    ...config,
    stream() {
      const socket = new Socket();
      socket.once("close", () => sockets.delete(socket));
      sockets.add(socket);
      return socket;
    },
    connectionString: urlWith(config.connectionString, options),
    connectionTimeoutMillis: connectMs,
    max: connections,
  });
  const names = createStatementNames();
  const idle = new Set<pg.PoolClient>();
  /** When their statements were sent. */
  const asked = new Map<pg.PoolClient, number>();
  pool.on("error", (error) => log?.warn({ error: error.message }, "An idle connection to PostgreSQL was lost."));
  // A lost connection fails its statement; without a listener its event would end the process as well.
  pool.on("connect", (client) => client.on("error", () => {}));
  pool.on("acquire", (client) => idle.delete(client));
  pool.on("release", (_error, client) => idle.add(client));
  pool.on("remove", (client) => idle.delete(client));

  async function connection(): Promise<pg.PoolClient> {
    for (;;) {
      try {
        const client = await pool.connect();
        if (!isDestroyed(client)) return client;
        // Dropped just now: the pool has not heard of it.
        client.release(true);
      } catch (cause) {
        throw unreachable(label, cause);
      }
    }
  }

  async function withClient<Value>(use: (client: pg.PoolClient) => Promise<Value>): Promise<Value> {
    const client = await connection();
    try {
      return await use(client);
    } finally {
      // A transaction whose rollback has failed too: not used again.
      client.release(isDestroyed(client) || client.getTransactionStatus() !== "I");
    }
  }

  async function send(client: pg.PoolClient, text: string, values?: readonly unknown[]): Promise<pg.QueryResult> {
    onTrip(text);
    asked.set(client, performance.now());
    try {
      const sent = values?.length
        ? client.query({ name: names.of(text), text, values: values as unknown[] })
        : client.query(text);
      return await withDeadline(sent, statementMs, () => {
        destroy(client);
        onSilence();
        return new Unavailable(`${label} did not answer within ${(statementMs + graceMs) / 1000} seconds.`, {
          code: "database_silent",
        });
      });
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      if (sqlState(error) === planIsStale) names.renew();
      throw asDatabaseError(error, { kind, label, statementMs });
    } finally {
      asked.delete(client);
    }
  }

  /** Committed by itself. A script may have failed between its own BEGIN and COMMIT; the next user must not find that. */
  async function sendAlone(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]> {
    return withClient(async (client) => {
      try {
        return rowsOf(await send(client, text, values));
      } catch (error) {
        if (!values?.length && !isDestroyed(client)) await send(client, "rollback").catch(() => {});
        throw error;
      }
    });
  }

  return {
    query: async <Row extends object>(text: string, values?: readonly unknown[]) =>
      (await sendAlone(text, values)) as Row[],
    script: (text) => sendAlone(text),
    transaction: (body, given) =>
      withClient((client) => {
        const query: Query = async <Row extends object>(text: string, values?: readonly unknown[]) =>
          rowsOf(await send(client, text, values)) as Row[];
        return runTransaction({ query, end: async (text) => (await send(client, text)).command }, body, given);
      }),
    dropIdle: () => idle.forEach(destroy),
    async dropUnanswered(atWork) {
      const waiting = [...asked];
      const left = () => waiting.filter(([client, at]) => asked.get(client) === at).map(([client]) => client);
      if (waiting.length === 0) return;
      // Requests and answers of this moment may still be on their way.
      await delay(graceMs, undefined, { ref: false });
      const working = await atWork(left().map(pidOf));
      const silent = left().filter((client) => !working.has(pidOf(client)));
      const read = new Map(silent.map((client) => [client, bytesRead(client)]));
      await delay(graceMs, undefined, { ref: false });
      // After a stall, Node.js runs timers before it reads answers that arrived meanwhile.
      await turn();
      for (const client of left()) if (read.get(client) === bytesRead(client)) destroy(client);
    },
    async close() {
      const cut = () => sockets.forEach((socket) => socket.destroy());
      const late = setTimeout(cut, closeMs);
      await pool.end();
      clearTimeout(late);
      // A goodbye that nobody hears would keep the process.
      setTimeout(cut, graceMs).unref();
    },
  };
}

/** Translates the error of a failed statement for its caller. */
function asDatabaseError(
  error: unknown,
  { kind, label, statementMs }: Pick<PoolOptions, "kind" | "label"> & { readonly statementMs: number },
): unknown {
  const state = sqlState(error);
  if (state === lockNotAvailable)
    return new Unavailable("Somebody else is changing the same rows; try again.", {
      code: "database_locked",
      cause: error,
    });
  if (state === statementCancelled)
    return new Unavailable(
      `PostgreSQL broke a statement off: ${messageOf(error)}. One of this kind may take ${statementMs / 1000} seconds${
        kind === "pulse" ? "" : ` (database.${kind}Seconds)`
      }.`,
      { code: "database_slow", cause: error },
    );
  if (error instanceof pg.DatabaseError && !isLoss(error)) return error;
  return unreachable(label, error);
}

/** Without a word to the server, which might not be heard. */
export function destroy(client: pg.Client): void {
  client.connection.stream.destroy();
}

/** Process ID of the backend, as the server reported it at the connection's start. */
function pidOf(client: pg.Client): number {
  return "processID" in client && typeof client.processID === "number" ? client.processID : 0;
}

function bytesRead({ connection: { stream } }: pg.Client): number {
  return "bytesRead" in stream && typeof stream.bytesRead === "number" ? stream.bytesRead : 0;
}

function isDestroyed(client: pg.Client): boolean {
  return client.connection.stream.destroyed;
}

/** Returns the rows of all statements in order: for several statements `pg` returns an array of results. */
function rowsOf(result: pg.QueryResult | pg.QueryResult[]): Record<string, unknown>[] {
  return Array.isArray(result) ? result.flatMap(({ rows }) => rows) : result.rows;
}

/** The server ended the connection (administrator, crash, shutdown, a transaction that stood idle, connection exceptions). */
function isLoss({ code }: pg.DatabaseError): boolean {
  return code !== undefined && /^(57P|08|25P0[34])/.test(code);
}

function unreachable(label: string, cause: unknown): Unavailable {
  // A refused connection to a name with several addresses is an AggregateError without a message of its own.
  const reason = cause instanceof AggregateError ? cause.errors.map(messageOf).join("; ") : messageOf(cause);
  return new Unavailable(`No connection to ${label}: ${reason}`, { code: "database_unavailable", cause });
}
