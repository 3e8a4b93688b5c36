import type { Query } from "../../protocol/agents/tools.ts";

/** What a node has beside its pool: one for notifications and one for signs of life. */
const besidePool = 2;
/** A pool needs as many. */
const smallestPool = 3;

/** Why PostgreSQL has too few connections for these workers, and what helps; undefined: it has enough. Other nodes are not counted. */
export async function checkConnections(
  query: Query,
  { workers, connections }: { readonly workers: number; readonly connections: number },
): Promise<string | undefined> {
  const [row] = await query<{ room: number }>(
    `select least(
       current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
         - coalesce(current_setting('reserved_connections', true), '0')::integer,
       (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
       (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user and not rolsuper)
     ) as room`,
  );
  const { room } = row!;
  const needed = workers * (connections + besidePool);
  if (needed <= room) return undefined;
  const fitting = Math.floor(room / workers) - besidePool;
  const who = workers === 1 ? "The server can open" : `${workers} workers can open`;
  const advice = fitting < smallestPool ? "Start fewer workers" : `Set database.connections to at most ${fitting}`;
  return `${who} ${needed} connections (database.connections and ${besidePool} more each), but PostgreSQL has ${room} for them. ${advice}, or raise max_connections.`;
}
