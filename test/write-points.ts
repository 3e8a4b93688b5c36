import type { Query } from "../src/protocol/agents/tools.ts";
import type { Database } from "../src/store/driver/database.ts";

/** A moment right before or right after a write, by its statement and the how manieth of its kind it is. */
export type WritePoint = string;

/** What comes by the clock and not from the run: its place among the run's own writes is not the same each time. */
const byTheClock = /into deltas|with held as|into nodes|pgboss\.(queue|version|warning|schedule|bam)/i;

/**
 * The same database, with every point told to `reach` before the work goes on; whoever does not return stops it there. The
 * point before a COMMIT is the one after its transaction's last write.
 */
export function withWritePoints(database: Database, reach: (point: WritePoint) => Promise<void>): Database {
  const counts = new Map<string, number>();
  const at = (when: string, text: string) => {
    const point = `${when} ${text}`;
    const count = (counts.get(point) ?? 0) + 1;
    counts.set(point, count);
    return reach(`${point} #${count}`);
  };
  const watched =
    (query: Query, wrote: () => void): Query =>
    async <Row extends object>(text: string, values?: readonly unknown[]) => {
      if (isClaim(text)) {
        const rows = await query<Row>(text, values);
        if (rows.some((row) => (row as ClaimedRow).run_id !== null)) await at("after", named(text));
        return rows;
      }
      if (!isWrite(text)) return query<Row>(text, values);
      wrote();
      await at("before", named(text));
      const rows = await query<Row>(text, values);
      await at("after", named(text));
      return rows;
    };
  return {
    ...database,
    query: watched(database.query, () => {}),
    async transaction(body, options) {
      let wrote = false;
      const value = await database.transaction(
        (query) =>
          body(
            watched(query, () => {
              wrote = true;
            }),
          ),
        options,
      );
      if (wrote) await at("after", "commit");
      return value;
    },
  };
}

type ClaimedRow = { readonly run_id: string | null };

/** Nodes look for runs by the clock too: only a claim that got one writes anything. */
function isClaim(text: string): boolean {
  return /\bclaim_runs\b/i.test(text);
}

function isWrite(text: string): boolean {
  return /\b(insert into|update|delete from)\b/i.test(text.replaceAll(/for update/gi, "")) && !byTheClock.test(text);
}

/** The statement without what differs from one time to the next. */
function named(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim().slice(0, 300);
}
