import { z } from "zod";
import type { ApiKey } from "../../store/api-keys.ts";
import { endpoint } from "../endpoint.ts";
import { requireAdmin } from "../require-admin.ts";
import { idParams, idSchema, listOf } from "../schemas.ts";

const role = z.enum(["admin", "user"]);
const userView = z.object({ id: z.string(), name: z.string(), role, disabled: z.boolean() });
const time = z.string().describe("ISO 8601");
const keyView = z.object({
  id: idSchema,
  label: z.string(),
  createdAt: time,
  lastUsedAt: time.nullable(),
  revokedAt: time.nullable(),
});

export const listUsers = endpoint({
  tag: "admin",
  summary: "List the accounts",
  answers: { 200: listOf(userView) },
  async handle({ caller, services }) {
    requireAdmin(caller);
    return { data: (await services.users.list()).map(view) };
  },
});

export const addUser = endpoint({
  tag: "admin",
  summary: "Make an account with an API key",
  description: "The key is in this answer and nowhere else: only its hash is kept.",
  body: z.strictObject({
    name: z.string().regex(/^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,63}$/u, "letters, digits and . _ @ -, at most 64"),
    role: role.default("user"),
  }),
  answers: { 201: z.object({ user: userView, key: z.string() }) },
  async handle({ caller, body, services, reply }) {
    requireAdmin(caller);
    const { user, key } = await services.users.add(body);
    reply.code(201);
    return { user: view(user), key };
  },
});

export const changeUser = endpoint({
  tag: "admin",
  summary: "Disable or enable an account, or change its role",
  description:
    "A disabled account's keys open nothing, and its runs end when they are next taken up. 409 `last_admin`: nobody else " +
    "could undo it. Other nodes may need 30 seconds to notice.",
  params: idParams,
  body: z.strictObject({ disabled: z.boolean().optional(), role: role.optional() }),
  answers: { 200: userView },
  async handle({ caller, params, body, services }) {
    requireAdmin(caller);
    return view(await services.users.change(params.id, body));
  },
});

export const listKeys = endpoint({
  tag: "admin",
  summary: "List an account's API keys",
  description: "Also those that are revoked. Of the keys themselves only hashes are kept.",
  params: idParams,
  answers: { 200: listOf(keyView) },
  async handle({ caller, params, services }) {
    requireAdmin(caller);
    return { data: (await services.users.keys(params.id)).map(viewOfKey) };
  },
});

export const addKey = endpoint({
  tag: "admin",
  summary: "Make another API key for an account",
  description: "`text` is the key; it is in this answer and nowhere else.",
  params: idParams,
  body: z.strictObject({ label: z.string().min(1).max(100) }),
  answers: { 201: z.object({ key: keyView, text: z.string() }) },
  async handle({ caller, params, body, services, reply }) {
    requireAdmin(caller);
    const { key, text } = await services.users.addKey(params.id, body.label);
    reply.code(201);
    return { key: viewOfKey(key), text };
  },
});

export const revokeKey = endpoint({
  tag: "admin",
  summary: "Revoke an API key",
  description: "At once on this node, within 30 seconds on others; open event streams of it end within as long again.",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ caller, params, services, reply }) {
    requireAdmin(caller);
    await services.users.revokeKey(params.id);
    reply.code(204);
  },
});

function view({ id, name, role: userRole, disabled }: z.infer<typeof userView>): z.infer<typeof userView> {
  return { id, name, role: userRole, disabled };
}

function viewOfKey({ id, label, createdAt, lastUsedAt, revokedAt }: ApiKey): z.infer<typeof keyView> {
  return {
    id,
    label,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
  };
}
