import { createHash } from "node:crypto";
import type { Query } from "../../protocol/agents/tools.ts";
import type { MovedTable } from "./moved-tables.ts";

/** Rows a query, so that nobody waits long for it; fewer if they are large, but always one. */
const pageRows = 500;
const pageBytes = 8 * 1024 * 1024;

/** Every statement sees the same moment, and times read the same everywhere. */
export const oneMoment = {
  first: "set transaction isolation level repeatable read, read only; set local time zone 'UTC'",
};

/** `key` is the place of the last line: the next page begins behind it. */
export type TablePage = { readonly lines: readonly string[]; readonly key: readonly unknown[] };

export type Column = { readonly name: string; readonly isText: boolean; readonly isVector: boolean };

/** The columns that rows are made of, in their order; what the database computes itself is not among them. */
export async function columnsOf(query: Query, table: string): Promise<readonly Column[]> {
  return query<Column>(
    `select column_name as name, data_type in ('text', 'character varying') as "isText",
       coalesce(udt_name = 'vector', false) as "isVector" from information_schema.columns
     where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER' order by ordinal_position`,
    [table],
  );
}

/**
 * The table's rows as lines of JSON, in the order of its key: the same rows give the same lines on every PostgreSQL, if
 * the transaction's time zone is UTC. (Text is compared by bytes, since collations differ between machines.)
 */
export async function* pagesOf(
  query: Query,
  { table, key, only = "true" }: MovedTable,
  after?: readonly unknown[],
): AsyncGenerator<TablePage> {
  const columns = await columnsOf(query, table);
  const isText = new Set(columns.filter((column) => column.isText).map(({ name }) => name));
  const order = key.map((name) => (isText.has(name) ? `"${name}" collate "C"` : `"${name}"`)).join(", ");
  // A vector is written as the array that it is where there is no such type.
  const list = columns
    .map(({ name, isVector }) => (isVector ? `"${name}"::real[] as "${name}"` : `"${name}"`))
    .join(", ");
  // `moved.*`: of a table with a column of that name the alias alone would be the column.
  for (let last = after; ;) {
    const behind = last ? `and (${order}) > (${key.map((_, at) => `$${at + 1}`).join(", ")})` : "";
    const rows = await query<{ line: string }>(
      `select line from (
         select line, n, sum(octet_length(line)) over (order by n) - octet_length(line) as before from (
           select to_jsonb(moved.*)::text as line, row_number() over (order by ${order}) as n
           from (select ${list} from "${table}" where ${only} ${behind} order by ${order} limit ${pageRows}) moved) lines) sized
       where before < ${pageBytes} order by n`,
      last,
    );
    if (rows.length === 0) return;
    const lines = rows.map(({ line }) => line);
    if (lines.some((line) => !line.startsWith("{"))) throw new Error(`a row of ${table} is no line of its columns`);
    const lastRow = JSON.parse(lines.at(-1)!) as Record<string, unknown>;
    last = key.map((name) => lastRow[name]);
    yield { lines, key: last };
  }
}

export type TableSum = { readonly rows: number; readonly sha256: string };

/** Count and hash of all rows as lines. */
export async function sumOf(query: Query, table: MovedTable, signal?: AbortSignal): Promise<TableSum> {
  const hash = createHash("sha256");
  let rows = 0;
  for await (const { lines } of pagesOf(query, table)) {
    signal?.throwIfAborted();
    rows += lines.length;
    hash.update(textOfLines(lines));
  }
  return { rows, sha256: hash.digest("hex") };
}

export function textOfLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
