import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { requireAdmin } from "../require-admin.ts";
import { listOf } from "../schemas.ts";

const role = z.enum(["admin", "user"]);
const userView = z.object({ id: z.string(), name: z.string(), role, disabled: z.boolean() });

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

function view({ id, name, role: userRole, disabled }: z.infer<typeof userView>): z.infer<typeof userView> {
  return { id, name, role: userRole, disabled };
}
