import { Conflict } from "../../protocol/base/errors.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../driver/database.ts";
import { migrations as ours } from "./migrations/index.ts";
import type { Migration } from "./migration.ts";

/** Any number, the same on all nodes: one of them migrates, the others wait. */
const lock = 7_206_000;

/**
 * Brings a database to what this version expects; resolves to the names that were applied. Each migration commits
 * by itself. Throws Conflict `database_newer` if the database knows migrations that this version doesn't.
 */
export async function migrate(database: Database, migrations: readonly Migration[] = ours): Promise<readonly string[]> {
  const applied = await alone(database, async (query) => {
    await query(
      "create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())",
    );
    return new Set(
      (await query<{ name: string }>("select name from migrations order by name")).map(({ name }) => name),
    );
  });

  const known = new Set(migrations.map(({ name }) => name));
  const unknown = [...applied].filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new Conflict(
      `The database ${database.label} was used by a newer version of Colloquy: it has ${unknown.join(", ")}. ` +
        "Start that version or a later one.",
      { code: "database_newer" },
    );
  }

  const added: string[] = [];
  for (const migration of migrations) {
    if (!applied.has(migration.name) && (await alone(database, (query) => apply(query, migration))))
      added.push(migration.name);
  }
  return added;
}

async function apply(query: Query, { name, up }: Migration): Promise<boolean> {
  // Another node may have been first.
  const [mine] = await query("insert into migrations (name) values ($1) on conflict do nothing returning name", [name]);
  if (!mine) return false;
  if (typeof up === "string") await query(up);
  else await up(query);
  return true;
}

/** PGlite has one process anyway; the lock costs nothing there. */
function alone<Value>(database: Database, body: (query: Query) => Promise<Value>): Promise<Value> {
  return database.transaction(body, { first: `select pg_advisory_xact_lock(${lock})` });
}
