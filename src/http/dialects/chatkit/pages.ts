import { NotFound } from "../../../protocol/errors.ts";
import type { ThreadRecord } from "../../../protocol/runs.ts";
import type { Call } from "../../endpoint.ts";
import { readBackwards, type Shown } from "./read-thread.ts";
import type { Page, ThreadItem } from "./thread-items.ts";

const pageSize = 20;

export type PageRequest = {
  readonly limit?: number | null | undefined;
  readonly order: "asc" | "desc";
  /** The last id of the page before. */
  readonly after?: string | null | undefined;
};

type Asking = Pick<Call, "services" | "caller">;

/** A thread is read from its end, in either order: only there it is known which of its branches counts. */
export async function listItems(
  call: Asking,
  thread: ThreadRecord,
  { limit, order, after }: PageRequest,
): Promise<Page<ThreadItem>> {
  const size = limit ?? pageSize;
  let found: ThreadItem[] = [];
  /** Descending, what comes before the cursor is no part of the page; ascending, what comes after it is not. */
  let begun = order === "asc" || !after;
  let met = !after;
  for await (const { shown } of readBackwards(call, thread)) {
    if (shown.id === after) {
      met = true;
      if (order === "asc") break;
      begun = true;
      continue;
    }
    if (begun) found.push(shown);
    if (found.length <= size) continue;
    if (order === "desc") break;
    // the oldest count, and there are older ones
    if (found.length > 2 * size + 1) found = found.slice(-size - 1);
  }
  if (!met) throw noItem(thread, after!);
  return pageOf(order === "asc" ? found.slice(-size - 1).reverse() : found, size);
}

export async function listThreads(
  { services, caller }: Asking,
  { limit, order, after }: Omit<PageRequest, "after"> & { readonly after?: string | undefined },
): Promise<{ readonly threads: readonly ThreadRecord[]; readonly hasMore: boolean }> {
  const size = limit ?? pageSize;
  const bound = after === undefined ? {} : order === "asc" ? { after } : { before: after };
  const threads = await services.runs.listThreads(caller, { ...bound, order, limit: size + 1 });
  return { threads: threads.slice(0, size), hasMore: threads.length > size };
}

/** Throws NotFound. */
export async function findItem(call: Asking, thread: ThreadRecord, id: string): Promise<Shown> {
  for await (const found of readBackwards(call, thread)) if (found.shown.id === id) return found;
  throw noItem(thread, id);
}

export function noItem(thread: ThreadRecord, id: string): NotFound {
  return new NotFound(`There is no item ${id.slice(0, 200)} in thread ${thread.id}.`, { code: "item_not_found" });
}

/** `found` may hold one more than the page. */
function pageOf(found: readonly ThreadItem[], size: number): Page<ThreadItem> {
  const data = found.slice(0, size);
  return found.length > size ? { data, has_more: true, after: data.at(-1)!.id } : { data, has_more: false };
}
