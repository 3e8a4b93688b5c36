import { z } from "zod";
import {
  keySchema,
  madeKeySchema,
  madeUserSchema,
  roleSchema,
  userSchema,
  type MadeUser,
  type UserView,
} from "../../../protocol/people/accounts.ts";
import { addKeyBody, addUserBody, expiryDate, keyView } from "../../shapes/accounts.ts";
import { checkScopes } from "../../requests/known-words.ts";
import { endpoint } from "../../server/endpoint.ts";
import { authorizeAccountAdmin } from "../../server/entry.ts";
import { idParams, listOf, pageQuery } from "../../shapes/schemas.ts";

export const listUsers = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "List the accounts by their names",
  query: z.object({
    after: z.string().max(200).optional().describe("The last name of the page before"),
    ...pageQuery,
  }),
  answers: { 200: listOf(userSchema) },
  async handle({ query, services }) {
    return { data: (await services.users.list(query)).map(view) };
  },
});

export const addUser = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "Make an account with an API key",
  description:
    "The key is in this answer and nowhere else: only its hash is kept. Without `scopes` it may all that the account may; it ends " +
    "after 90 days, unless `expiresInDays` says otherwise.",
  body: addUserBody,
  answers: { 201: madeUserSchema },
  async handle({ caller, body, services, reply }): Promise<MadeUser> {
    const { scopes, expiresInDays, ...account } = body;
    authorizeAccountAdmin(caller, account.role);
    checkScopes(scopes, services);
    const { user, key, text } = await services.users.add(account, { scopes, expiresAt: expiryDate(expiresInDays) });
    reply.code(201);
    return { user: view(user), key: text, scopes, expiresAt: key.expiresAt?.toISOString() ?? null };
  },
});

export const changeUser = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "Disable or enable an account, or change its role",
  description:
    "A disabled account is logged out and its keys open nothing; its runs end when they are next taken up. 409 `last_admin`: nobody else " +
    "could undo it. Other nodes may need 30 seconds to notice.",
  params: idParams,
  body: z.strictObject({ disabled: z.boolean().optional(), role: roleSchema.optional() }),
  answers: { 200: userSchema },
  async handle({ caller, params, body, services }) {
    authorizeAccountAdmin(caller, body.role);
    authorizeAccountAdmin(caller, await services.users.roleOf(params.id));
    return view(await services.users.change(params.id, body));
  },
});

export const listKeys = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "List an account's API keys",
  description: "Includes revoked keys. Only hashes of the keys are stored.",
  params: idParams,
  answers: { 200: listOf(keySchema) },
  async handle({ params, services }) {
    return { data: (await services.users.keys(params.id)).map(keyView) };
  },
});

export const addKey = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "Make another API key for an account",
  description: "`text` is the key; it is in this answer and nowhere else.",
  params: idParams,
  body: addKeyBody,
  answers: { 201: madeKeySchema },
  async handle({ caller, params, body, services, reply }) {
    authorizeAccountAdmin(caller, await services.users.roleOf(params.id));
    const { label, scopes, expiresInDays } = body;
    checkScopes(scopes, services);
    const made = { userId: params.id, label, scopes, expiresAt: expiryDate(expiresInDays) };
    const { key, text } = await services.users.addKey(made);
    reply.code(201);
    return { key: keyView(key), text };
  },
});

export const revokeKey = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "Revoke an API key",
  description:
    "Takes effect at once on this node and within 30 seconds on others; open event streams end within another 30 seconds.",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ caller, params, services, reply }) {
    authorizeAccountAdmin(caller, await services.users.roleOfKey(params.id));
    await services.users.revokeKey(params.id);
    reply.code(204);
  },
});

function view({ id, name, role, disabled }: UserView): UserView {
  return { id, name, role, disabled };
}
