import { keySchema, madeKeySchema } from "../../../protocol/people/accounts.ts";
import { addKeyBody, changeKeyBody, expiryDate, keyView } from "../../shapes/accounts.ts";
import { checkScopes } from "../../requests/known-words.ts";
import { endpoint } from "../../server/endpoint.ts";
import { idParams, listOf } from "../../shapes/schemas.ts";
import { z } from "zod";

export const listOwnKeys = endpoint({
  needs: "account",
  tag: "accounts",
  summary: "List your API keys",
  description: "Includes revoked keys. Only hashes of the keys are stored.",
  answers: { 200: listOf(keySchema) },
  async handle({ caller, services }) {
    return { data: (await services.users.keys(caller.userId)).map(keyView) };
  },
});

export const addOwnKey = endpoint({
  needs: "account",
  tag: "accounts",
  summary: "Make an API key for yourself",
  description: "`text` is the key; it is in this answer and nowhere else.",
  body: addKeyBody,
  answers: { 201: madeKeySchema },
  async handle(call) {
    const { label, scopes, expiresInDays } = call.body;
    checkScopes(scopes, call.services);
    const key = { userId: call.caller.userId, label, scopes, expiresAt: expiryDate(expiresInDays) };
    const made = await call.services.users.addKey(key);
    call.reply.code(201).header("cache-control", "no-store");
    return { key: keyView(made.key), text: made.text };
  },
});

export const changeOwnKey = endpoint({
  needs: "account",
  tag: "accounts",
  summary: "Change the scopes or label of an API key",
  description: "It counts from the next request on, on other nodes within 30 seconds.",
  params: idParams,
  body: changeKeyBody,
  answers: { 200: keySchema },
  async handle({ params, body, caller, services }) {
    checkScopes(body.scopes ?? [], services);
    return keyView(await services.users.changeKey({ id: params.id, userId: caller.userId, ...body }));
  },
});

export const revokeOwnKey = endpoint({
  needs: "account",
  tag: "accounts",
  summary: "Revoke one of your API keys",
  description: "At once on this node, within 30 seconds on others.",
  params: idParams,
  answers: { 204: z.null() },
  async handle(call) {
    await call.services.users.revokeKey(call.params.id, call.caller.userId);
    call.reply.code(204);
  },
});
