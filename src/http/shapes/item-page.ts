import { z } from "zod";
import { itemSchema } from "../../protocol/threads/item-schema.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import type { Threads } from "../../run/runs.ts";
import { idSchema } from "../../protocol/base/shapes.ts";
import { publicItem } from "../../protocol/threads/public-views.ts";
import { listOf, pageQuery } from "./schemas.ts";

const seqSchema = z.coerce.number().int().nonnegative().optional();

export const itemPageQuery = z
  .object({
    after: seqSchema,
    before: seqSchema,
    order: z.enum(["asc", "desc"]).optional(),
    around: idSchema.optional().describe("An item ID: returns the items around it, by seq"),
    ...pageQuery,
  })
  .refine(({ around, after, before, order }) => around === undefined || (after ?? before ?? order) === undefined, {
    message: "around goes without after, before and order",
    path: ["around"],
  });
export const itemPageSchema = listOf(itemSchema).extend({ next: z.int().optional() });

/** A page of a thread's items; `next` is the seq to go on from, absent where there are no more. */
export async function readItemPage(
  threads: Pick<Threads, "getThread" | "listItems">,
  caller: Caller,
  threadId: string,
  query: z.infer<typeof itemPageQuery>,
): Promise<z.infer<typeof itemPageSchema>> {
  const { lastSeq } = await threads.getThread(caller, threadId);
  const data = (await threads.listItems(caller, threadId, query)).map(publicItem);
  const reached = data.at(-1)?.seq;
  const { after = 0, before = lastSeq + 1, order } = query;
  const more =
    reached !== undefined && (order === "desc" ? reached > after + 1 : reached < Math.min(lastSeq, before - 1));
  return { data, ...(more && { next: reached }) };
}
