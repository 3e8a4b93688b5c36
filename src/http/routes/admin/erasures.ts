import { authorizeAccountAdmin } from "../../server/entry.ts";
import { z } from "zod";
import { erasureSchema, type ErasureView } from "../../../protocol/people/accounts.ts";
import { NotFound } from "../../../protocol/base/errors.ts";
import type { Erasure } from "../../../store/privacy/erasures.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { idParams, listOf } from "../../shapes/schemas.ts";

export const erasePerson = endpoint({
  needs: "admin:users",
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
    authorizeAccountAdmin(caller, await services.users.roleOf(params.id));
    const erasure = await erasuresOf(services).erase(caller, params.id, body.confirm);
    reply.code(202);
    return view(erasure);
  },
});

export const listErasures = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "Who is being erased, and that somebody was",
  answers: { 200: listOf(erasureSchema) },
  async handle({ services }) {
    return { data: (await erasuresOf(services).list()).map(view) };
  },
});

export const getErasure = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "How far an erasure is",
  params: idParams,
  answers: { 200: erasureSchema },
  async handle({ params, services }) {
    return view(await erasuresOf(services).get(params.id));
  },
});

function view({ begunAt, doneAt, ...erasure }: Erasure): ErasureView {
  return { ...erasure, begunAt: begunAt.toISOString(), doneAt: doneAt?.toISOString() ?? null };
}

function erasuresOf({ erasures }: EndpointCall["services"]) {
  if (!erasures) throw new NotFound("Erasing accounts is not available on this server.");
  return erasures;
}
