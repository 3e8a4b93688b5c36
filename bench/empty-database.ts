import { freshDataDirectory, temporaryFolder } from "../test/pglite.ts";
import type { PostgresServer } from "../test/postgres.ts";
import type { Database } from "../src/store/driver/database.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { migrate } from "../src/store/schema/migrate.ts";

/** A database with all tables and no rows: on this server, or embedded. Whoever opens it closes it. */
export async function openEmptyDatabase(postgres: PostgresServer | undefined): Promise<Database> {
  const database = await openDatabase(
    postgres
      ? { url: await postgres.createDatabase(), dataDirectory: temporaryFolder("bench") }
      : { dataDirectory: await freshDataDirectory() },
  );
  await migrate(database);
  return database;
}
