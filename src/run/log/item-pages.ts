import { itemColumns } from "./rows.ts";

/** Maximum of one read of a thread, except for a single larger item. */
export const pageItems = 500;
export const pageBytes = 4 * 1024 * 1024;

export type ItemPage = {
  /** Conditions on `items`, as SQL; so are limit and bytes. */
  readonly where: string;
  readonly order?: "asc" | "desc";
  readonly limit: string;
  readonly bytes: string;
};

/**
 * A query of items by seq, cut off where their bodies come to `bytes`; `total` counts them up. What the table stores bounds the
 * real sizes from below and costs nothing to know, so no more than a page is ever decompressed to measure it.
 */
export function itemPageSql({ where, order = "asc", limit, bytes }: ItemPage): string {
  return `select ${itemColumns}, total from (
      select s.*, sum(size) over (order by seq ${order}) as total from (
        select r.*, case when pg_column_compression(body) is null then pg_column_size(body) else octet_length(body::text) end as size from (
          select ${itemColumns}, sum(pg_column_size(body)) over (order by seq ${order}) - pg_column_size(body) as stored_before
          from items where ${where} order by seq ${order} limit ${limit}
        ) r where stored_before < ${bytes}
      ) s
    ) p where total - size < ${bytes} order by seq ${order}`;
}
