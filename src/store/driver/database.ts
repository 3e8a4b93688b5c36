import type { Query } from "../../protocol/agents/tools.ts";

/**
 * One PostgreSQL, whichever way it is reached.
 * jsonb parameters are passed as JSON text with a cast (`$1::jsonb`); bigint comes back as a number, timestamptz as Date.
 */
export type Database = {
  readonly kind: "pglite" | "postgres";
  /** A path, or a URL without its password, as `doctor` and the start page print it. */
  readonly label: string;
  /** One statement, one round trip, committed by itself. Without values the text may be a script, as below. */
  readonly query: Query;
  /**
   * This database, for statements that may take longer than a run or a request should wait: searches, lists and upkeep.
   * On PostgreSQL it has connections and deadlines of its own, so that neither delays the other; on PGlite there is no difference.
   */
  readonly listing: Database;
  /** And for what goes over whole tables: migrations, indexes, moves. */
  readonly maintenance: Database;
  /** And for signs of life: on PostgreSQL one connection, which is free whatever the others wait for. */
  readonly pulse: Database;
  /** Several statements without parameters in one round trip; the rows of all of them in order. */
  readonly script: (text: string) => Promise<Record<string, unknown>[]>;
  /** Nothing but the given query may be awaited inside: on PGlite anything else waits for ever. */
  readonly transaction: <Value>(body: (query: Query) => Promise<Value>, options?: TransactionOptions) => Promise<Value>;
  /** Hears NOTIFY on a channel; survives a lost connection by connecting again, and then calls with an empty payload. */
  readonly listen: (channel: string, hear: (payload: string) => void) => Promise<() => Promise<void>>;
  /** Counts every round trip (BEGIN and COMMIT too); for tests and benches. */
  onTrip?: (text: string) => void;
  /** Tells other commands on the data directory where its server is. */
  readonly announce?: (details: { readonly url: string }) => void;
  /** PGlite only: what a local command of the same operating-system user shows to the server. */
  readonly token?: string;
  /** PGlite only: fulfilled when its thread has died. Nothing works then until the process starts anew. */
  readonly failed?: Promise<Error>;
  readonly close: () => Promise<void>;
};

/** `first`: a statement without parameters that goes out in one round trip with BEGIN (a lock, say). */
export type TransactionOptions = { readonly first?: string };
