import { z } from "zod";
import { type Caller, hasScope } from "../../../protocol/base/callers.ts";
import { AccessDenied, ColloquyError, NotFound } from "../../../protocol/base/errors.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { type BulkAnswer, bulkAnswerSchema, maxTogether } from "../../../protocol/threads/threads.ts";
import { endpoint } from "../../server/endpoint.ts";
import type { Services } from "../../server/services.ts";
import { placeChange } from "../../shapes/place-change.ts";

type Outcome = BulkAnswer["data"][number];

/** So that no transaction holds up others for long. */
const together = 50;

export const changeThreads = endpoint({
  needs: "threads:write",
  tag: "threads",
  summary: "Change or delete many conversations and rooms",
  description:
    `At most ${maxTogether}. Each is told apart: what can't be done with one keeps none of the others from it. ` +
    "`delete` needs the scope `threads:delete`, and goes alone.",
  body: z.strictObject({
    ids: z.array(idSchema).min(1).max(maxTogether),
    change: z
      .union([z.strictObject(placeChange), z.strictObject({ delete: z.literal(true) })])
      .refine((change) => Object.keys(change).length > 0, "must change something"),
  }),
  answers: { 200: bulkAnswerSchema },
  async handle({ body: { ids, change }, caller, services }): Promise<BulkAnswer> {
    const unique = [...new Set(ids)];
    const data: Outcome[] = [];
    if ("delete" in change) {
      if (!hasScope(caller, "threads:delete"))
        throw new AccessDenied(403, "This key may not delete: it lacks the scope threads:delete.");
      for (const id of unique) data.push(await outcomeOf(id, () => remove(services, caller, id)));
      return { data };
    }
    for (let at = 0; at < unique.length; at += together) {
      const some = unique.slice(at, at + together);
      const placed = await services.threads.place(caller, some, change);
      for (const id of some)
        data.push(
          await outcomeOf(id, () => {
            if (!placed.has(id)) throw new NotFound(`Thread ${id} not found.`, { code: "thread_not_found" });
          }),
        );
    }
    return { data };
  },
});

async function remove({ threads, rooms, presence }: Services, caller: Caller, id: string): Promise<void> {
  if ((await threads.placed(caller, [id])).get(id)?.kind !== "room") return threads.deleteThread(caller, id);
  await rooms.remove(caller, id);
  presence.changed(id);
}

async function outcomeOf(id: string, act: () => Promise<void> | void): Promise<Outcome> {
  try {
    await act();
    return { id, done: true };
  } catch (error) {
    if (!(error instanceof ColloquyError) || error.status >= 500) throw error;
    return { id, done: false, error: { code: error.code, message: error.message } };
  }
}
