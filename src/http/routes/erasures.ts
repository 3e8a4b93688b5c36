import { z } from "zod";
import { NotFound } from "../../protocol/errors.ts";
import { type Erasure, erasureSteps } from "../../store/erasures.ts";
import { type Call, endpoint } from "../endpoint.ts";
import { requireAdmin } from "../require-admin.ts";
import { idSchema } from "../../protocol/shapes.ts";
import { idParams, listOf } from "../schemas.ts";

const erasureSchema = z.object({
  id: idSchema,
  userId: idSchema.describe("Of the account that there is no more"),
  askedBy: idSchema.nullable(),
  begunAt: z.string().describe("ISO 8601"),
  step: z.enum(erasureSteps),
  problem: z.string().nullable().describe("What keeps it from going on; it is tried again"),
  doneAt: z.string().nullable(),
});

export const erasePerson = endpoint({
  tag: "admin",
  summary: "Erase a person",
  description:
    "Can't be undone. `confirm` is the account's name, exactly. From now on nobody comes in with the account; its runs are " +
    "ended; its conversations, files, collections, keys and all else go; what it said in conversations of others becomes " +
    "`{erased: true}`; the audit log keeps what happened, without the name. Goes on in the background, also after a crash: ask " +
    "`/api/admin/erasures/{id}`. 409 `owner_stays`, `last_admin`.",
  params: idParams,
  body: z.strictObject({ confirm: z.string().max(500) }),
  answers: { 202: erasureSchema },
  async handle({ params, body, caller, reply, services }) {
    requireAdmin(caller);
    const erasure = await erasuresOf(services).erase(caller, params.id, body.confirm);
    reply.code(202);
    return view(erasure);
  },
});

export const listErasures = endpoint({
  tag: "admin",
  summary: "Who is being erased, and that somebody was",
  answers: { 200: listOf(erasureSchema) },
  async handle({ caller, services }) {
    requireAdmin(caller);
    return { data: (await erasuresOf(services).list()).map(view) };
  },
});

export const getErasure = endpoint({
  tag: "admin",
  summary: "How far an erasure is",
  params: idParams,
  answers: { 200: erasureSchema },
  async handle({ params, caller, services }) {
    requireAdmin(caller);
    return view(await erasuresOf(services).get(params.id));
  },
});

function view({ begunAt, doneAt, ...erasure }: Erasure): z.infer<typeof erasureSchema> {
  return { ...erasure, begunAt: begunAt.toISOString(), doneAt: doneAt?.toISOString() ?? null };
}

function erasuresOf({ erasures }: Call["services"]) {
  if (!erasures) throw new NotFound("This server erases nobody.");
  return erasures;
}
