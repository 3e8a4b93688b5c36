import { Conflict } from "../../protocol/base/errors.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../driver/database.ts";
import { baseline } from "./baseline.ts";
import type { Baseline, SchemaHistory, Migration } from "./migration.ts";
import { migrations } from "./migrations/index.ts";

/** Any number, the same on all nodes: one of them migrates, the others wait. */
const lock = 7_206_000;

const ours: SchemaHistory = {
  baseline: { ...baseline, old: async () => (await import("./old-migrations/index.ts")).oldMigrations },
  migrations,
};

/** All that a database of this version has gone through, in order. */
export const migrationNames: readonly string[] = namesOf(ours);

export type MigrateOptions = {
  /** Brings the database no further than these: to what an older version expected. */
  readonly only?: (name: string) => boolean;
  readonly history?: SchemaHistory;
};

/**
 * Brings a database to what this version expects; resolves to the names that were applied. An empty one gets the baseline, an older
 * one goes through the migrations that it stands for; each of them commits by itself. Throws Conflict `database_newer` if the database
 * knows migrations that this version doesn't.
 */
export async function migrate(
  database: Database,
  { only = () => true, history = ours }: MigrateOptions = {},
): Promise<readonly string[]> {
  const wanted = namesOf(history).filter(only);
  // Only as a whole can it be told from an older database.
  const base = history.baseline?.names.every(only) ? history.baseline : undefined;
  const { applied, added } = await alone(database, (query) => begin(query, base));

  const unknown = applied.filter((name) => !wanted.includes(name));
  if (unknown.length > 0) {
    throw new Conflict(
      `The database ${database.label} was used by a newer version of Colloquy: it has ${unknown.join(", ")}. ` +
        "Start that version or a later one.",
      { code: "database_newer" },
    );
  }

  const missing = new Set(wanted.filter((name) => !applied.includes(name)));
  const isOlder = history.baseline?.names.some((name) => missing.has(name));
  const steps = [...(isOlder ? await history.baseline!.old() : []), ...history.migrations];
  for (const migration of steps) {
    if (missing.has(migration.name) && (await alone(database, (query) => apply(query, migration))))
      added.push(migration.name);
  }
  return added;
}

/** Returns the migrations that the database has, and those just added: the baseline, if it was empty. */
async function begin(
  query: Query,
  base: Baseline | undefined,
): Promise<{ readonly applied: readonly string[]; readonly added: string[] }> {
  await query(
    "create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())",
  );
  const rows = await query<{ name: string }>("select name from migrations order by name");
  if (rows.length > 0 || !base) return { applied: rows.map(({ name }) => name), added: [] };
  await query(base.script());
  await query("insert into migrations (name) select unnest($1::text[])", [base.names]);
  return { applied: base.names, added: [...base.names] };
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

function namesOf(history: SchemaHistory): readonly string[] {
  return [...(history.baseline?.names ?? []), ...history.migrations.map(({ name }) => name)];
}
