import type { Query } from "../../src/protocol/agents/tools.ts";
import type { Database } from "../../src/store/driver/database.ts";
import type { Filled } from "./fill.ts";
import type { Look } from "./looks.ts";
import { counting, type ReadCounts } from "./read-counts.ts";

/** What a look may read for each row that it gives, and besides: a table of few pages, which is read whole, one row of several tables. */
const [rowsPerRow, buffersPerRow, rowsBeside, buffersBeside] = [50, 20, 250, 250];

export type World = { readonly database: Database; readonly filled: Filled };

export async function countLook({ database, filled }: World, { look, writes = false }: Look): Promise<ReadCounts> {
  const watched = counting(database);
  // What a server, or its session with the database, remembers since its first look is not in it.
  if (!writes) {
    await look(database, filled);
    await look(watched.database, filled);
  } else {
    await undone(database, (query) => look({ ...database, query }, filled));
    await undone(watched.database, (query) => look({ ...watched.database, query }, filled));
  }
  return watched.counts;
}

async function undone(database: Database, body: (query: Query) => Promise<unknown>): Promise<void> {
  const rollback = new Error("rolled back");
  const done = database.transaction(async (query) => {
    await body(query);
    throw rollback;
  });
  await done.catch((error: unknown) => {
    if (error !== rollback) throw error;
  });
}

/** Why a look reads too much, if it does. */
export function excess({ most }: Look, { rows, buffers, returned }: ReadCounts): string | undefined {
  if (most !== undefined) return rows > most ? `reads ${rows} rows, more than ${most}` : undefined;
  const isOver = rows > rowsBeside + rowsPerRow * returned || buffers > buffersBeside + buffersPerRow * returned;
  return isOver ? `reads ${rows} rows and ${buffers} buffers for ${returned}` : undefined;
}
