import { NotFound } from "../../../protocol/base/errors.ts";
import type { ThreadRecord } from "../../../protocol/threads/runs.ts";
import type { EndpointCall } from "../../server/endpoint.ts";
import { readBackwards, type ShownItem } from "./read-thread.ts";
import type { ChatKitPage, ThreadItem } from "./thread-items.ts";

const pageSize = 20;

export type ChatKitPageRequest = {
  readonly limit?: number | null | undefined;
  readonly order: "asc" | "desc";
  /** The last id of the page before. */
  readonly after?: string | null | undefined;
};

type PageCall = Pick<EndpointCall, "services" | "caller">;

export async function listItems(
  call: PageCall,
  thread: ThreadRecord,
  request: ChatKitPageRequest,
): Promise<ChatKitPage<ThreadItem>> {
  return await pageOf(shownIn(call, thread), request);
}

async function* shownIn(call: PageCall, thread: ThreadRecord): AsyncGenerator<ThreadItem> {
  for await (const { shown } of readBackwards(call, thread)) yield shown;
}

/**
 * A page of a thread, in either order, of what is read from its end: only there it is known which of its branches counts. No
 * more than two pages are held. Throws NotFound for a cursor that is not there.
 */
export async function pageOf<Entry extends { readonly id: string }>(
  backwards: AsyncIterable<Entry>,
  { limit, order, after }: ChatKitPageRequest,
): Promise<ChatKitPage<Entry>> {
  const size = limit ?? pageSize;
  const ascending = order === "asc";
  let found: Entry[] = [];
  let met = !after;
  for await (const entry of backwards) {
    if (entry.id === after) {
      met = true;
      if (ascending) break;
    } else if (ascending || met) {
      found.push(entry);
      if (!ascending && found.length > size) break;
      // The oldest ones make the page.
      if (found.length > 2 * size + 1) found = found.slice(-size - 1);
    }
  }
  if (!met) throw noItem(after!);
  if (ascending) found = found.slice(-size - 1).reverse();
  const data = found.slice(0, size);
  return found.length > size ? { data, has_more: true, after: data.at(-1)!.id } : { data, has_more: false };
}

export async function listThreads(
  { services, caller }: PageCall,
  { limit, order, after }: Omit<ChatKitPageRequest, "after"> & { readonly after?: string | undefined },
): Promise<{ readonly threads: readonly ThreadRecord[]; readonly hasMore: boolean }> {
  const size = limit ?? pageSize;
  const bound = after === undefined ? {} : order === "asc" ? { after } : { before: after };
  const threads = await services.threads.listThreads(caller, { ...bound, order, limit: size + 1 });
  return { threads: threads.slice(0, size), hasMore: threads.length > size };
}

/** Throws NotFound if one of them is not there. */
export async function findItems(
  call: PageCall,
  thread: ThreadRecord,
  ids: readonly string[],
): Promise<readonly ShownItem[]> {
  const missing = new Set(ids);
  const items: ShownItem[] = [];
  for await (const found of readBackwards(call, thread)) {
    if (missing.delete(found.shown.id)) items.push(found);
    if (missing.size === 0) return items;
  }
  throw noItem([...missing][0]!);
}

/** Throws NotFound. */
export async function findItem(call: PageCall, thread: ThreadRecord, id: string): Promise<ShownItem> {
  return (await findItems(call, thread, [id]))[0]!;
}

export function noItem(id: string): NotFound {
  return new NotFound(`The thread has no item ${id.slice(0, 200)}.`, { code: "item_not_found" });
}
