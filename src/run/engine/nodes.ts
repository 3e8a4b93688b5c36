import type { Database } from "../../store/driver/database.ts";

/** How long after it last said that it lives a node may go on with its runs; then others take them. `claim_runs` counts with it too. */
export const leaseMs = 10_000;

/** SQL condition: the node of this name lives. */
export function isAliveSql(node: string): string {
  return `exists (select from nodes n where n.id = ${node} and n.seen_at > now() - interval '${leaseMs} milliseconds')`;
}

type Node = { readonly database: Database; readonly node: string };

/**
 * Says that this node lives, before it takes the first run, and forgets those that died long ago. One process owns an embedded
 * database, so there whatever another one was working on can be taken at once, and this one lives as long as the database is open.
 */
export async function joinNodes({ database, node }: Node): Promise<void> {
  const isAlone = database.kind === "pglite";
  await database.query(
    `with gone as (delete from nodes where id <> $1 and ($2::boolean or seen_at < now() - interval '1 day'))
     insert into nodes (id, seen_at) values ($1, case when $2::boolean then 'infinity' else now() end) on conflict do nothing`,
    [node, isAlone],
  );
}

/** So that others need not wait until it looks dead. */
export async function leaveNodes({ database, node }: Node): Promise<void> {
  await database.query("delete from nodes where id = $1", [node]);
}
