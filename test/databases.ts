import { basename } from "node:path";
import { after, afterEach, before, describe } from "node:test";
import type { Database } from "../src/store/driver/database.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { skipDatabase } from "./left-out.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { isWhole, lotOf } from "./sampled.ts";
import { removeRows } from "./remove-rows.ts";

/** Where a database is: what `openDatabase` takes, also in another process. */
export type Place = { readonly url?: string; readonly dataDirectory: string };

export type TestDatabases = {
  readonly kind: Database["kind"];
  /** A place with a new database without rows; on PGlite its tables may be there already. */
  place(): Promise<Place>;
  /** A new database, migrated unless asked not to; closed when the suite ends, if it is still open. */
  open(options?: { readonly migrated?: boolean }): Promise<Database>;
  /** A migrated database without rows, for one test, which must leave nobody at work on it: the next one has it again. */
  lend(): Promise<Database>;
};

/** Registers the same suite for PGlite and for PostgreSQL. `COLLOQUY_TEST_DATABASES=pglite` skips the other. */
export function eachDatabase(suite: (databases: TestDatabases) => void): void {
  for (const kind of ["pglite", "postgres"] as const) {
    // One after the other, also where both databases are tested at once: tests of one may share it.
    describe(`on ${kind}`, { concurrency: 1, skip: skipDatabase(kind) }, () => suite(testDatabases(kind)));
  }
}

/**
 * Registers a suite for one of the two, which a seed picks: for what asks the database nothing that the other would answer
 * differently. `npm run test:all` takes both.
 */
export function anyDatabase(suite: (databases: TestDatabases) => void): void {
  if (isWhole) return eachDatabase(suite);
  const there = (["pglite", "postgres"] as const).filter((kind) => skipDatabase(kind) === false);
  const kind =
    there[Number.parseInt(lotOf(basename(process.argv[1] ?? "")).slice(0, 8), 16) % there.length] ?? "pglite";
  describe(`on ${kind}`, { concurrency: 1, skip: skipDatabase(kind) }, () => suite(testDatabases(kind)));
}

function testDatabases(kind: Database["kind"]): TestDatabases {
  const open: Database[] = [];
  const free: Database[] = [];
  const lent: Database[] = [];
  let server: PostgresServer | undefined;

  before(async () => {
    if (kind === "postgres") server = await startPostgres();
  });
  after(async () => {
    await Promise.all(open.map((database) => database.close()));
    await server?.stop();
  });

  afterEach(() => void free.push(...lent.splice(0)));

  async function place({ migrated = true } = {}): Promise<Place> {
    if (server) return { url: await server.createDatabase(), dataDirectory: temporaryFolder("data") };
    return { dataDirectory: await freshDataDirectory({ migrated }) };
  }

  async function openOne({ migrated = true } = {}): Promise<Database> {
    const database = await openDatabase(await place({ migrated }));
    open.push(database);
    if (migrated) await migrate(database);
    return database;
  }

  return {
    kind,
    place: () => place(),
    open: openOne,
    async lend() {
      const used = free.pop();
      if (used) await removeRows(used);
      const database = used ?? (await openOne());
      lent.push(database);
      return database;
    },
  };
}
