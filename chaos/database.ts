import pg from "pg";
import type { Query } from "../src/protocol/agents/tools.ts";
import { type OwnPostgres, startOwnPostgres } from "../test/postgres.ts";

/** The PostgreSQL of a chaos, wherever it is just now. */
export type HarmedPostgres = {
  readonly server: OwnPostgres;
  url(): string;
  /** Its new place is told. */
  startAgain(): Promise<string>;
  /** By a connection of its own, so that no harm to others breaks it; not while there is no server. */
  readonly query: Query;
};

export async function startHarmedPostgres(): Promise<HarmedPostgres> {
  // What it says is committed must be with the operating system before it is killed, and a page that a kill tears must be mended.
  const server = await startOwnPostgres({ settings: { synchronous_commit: "on", full_page_writes: "on" } });
  let url = await server.createDatabase();
  const { pathname } = new URL(url);
  return {
    server,
    url: () => url,
    async startAgain() {
      const place = new URL(await server.startAgain());
      place.pathname = pathname;
      return (url = place.href);
    },
    async query<Row extends object>(text: string, values: readonly unknown[] = []) {
      const client = new pg.Client({ connectionString: url, application_name: "chaos" });
      // It fails the query that is under way, and nothing else.
      client.on("error", () => {});
      await client.connect();
      try {
        return (await client.query<Row & Record<string, unknown>>(text, [...values])).rows as Row[];
      } finally {
        await client.end();
      }
    },
  };
}
