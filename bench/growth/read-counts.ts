import type { Query } from "../../src/protocol/agents/tools.ts";
import type { Database } from "../../src/store/driver/database.ts";

/** What a database did for a look: rows that its scans came by, pages that it looked at, and rows that it gave. */
export type ReadCounts = { rows: number; buffers: number; returned: number; milliseconds: number };

type Plan = {
  readonly "Node Type": string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly Plan[];
};

/** Of tables and their indexes; a bitmap's entries are rows of the heap scan above it. */
const scans = new Set(["Seq Scan", "Index Scan", "Index Only Scan", "Bitmap Heap Scan", "Tid Scan", "Sample Scan"]);

function scanned(plan: Plan): number {
  const removed = (plan["Rows Removed by Filter"] ?? 0) + (plan["Rows Removed by Index Recheck"] ?? 0);
  const own = scans.has(plan["Node Type"]) ? (plan["Actual Rows"] + removed) * plan["Actual Loops"] : 0;
  return (plan.Plans ?? []).reduce((sum, below) => sum + scanned(below), own);
}

const isExplained = (text: string) => /^\s*(\(*\s*select|with|insert|update|delete)\b/i.test(text);
const isRead = (text: string) =>
  /^\s*(\(*\s*select|with)\b/i.test(text) && !/\b(insert into|update \w+ set|delete from)\b/i.test(text);

/**
 * The same database, which has each statement explained as it is done, and counts. What a statement would change is done by its
 * explanation, so a look that writes gets no rows, and belongs in a transaction that is rolled back.
 */
export function counting(database: Database): { readonly database: Database; readonly counts: ReadCounts } {
  const counts: ReadCounts = { rows: 0, buffers: 0, returned: 0, milliseconds: 0 };
  const through =
    (query: Query): Query =>
    async <Row extends object>(text: string, values?: readonly unknown[]) => {
      if (!isExplained(text)) return query<Row>(text, values);
      type Explained = { readonly Plan: Plan; readonly "Execution Time": number };
      const [row] = await query<{ "QUERY PLAN": readonly Explained[] | string }>(
        `explain (analyze, buffers, timing off, format json) ${text}`,
        values,
      );
      const told = row!["QUERY PLAN"];
      const [{ Plan: plan, "Execution Time": milliseconds }] = (typeof told === "string" ? JSON.parse(told) : told) as [
        Explained,
      ];
      counts.rows += scanned(plan);
      counts.buffers += plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
      counts.milliseconds += milliseconds;
      if (!isRead(text)) return [];
      const rows = await query<Row>(text, values);
      counts.returned += rows.length;
      return rows;
    };
  const view: Database = {
    ...{ kind: database.kind, label: database.label, script: database.script },
    ...{ listen: database.listen, close: database.close },
    query: through(database.query),
    transaction: (body, options) => database.transaction((query) => body(through(query)), options),
    get listing() {
      return view;
    },
    get maintenance() {
      return view;
    },
    get pulse() {
      return view;
    },
  };
  return { database: view, counts };
}
