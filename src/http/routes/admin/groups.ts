import { z } from "zod";
import { groupSchema, memberSchema } from "../../../protocol/people/accounts.ts";
import { permissionsSchema } from "../../shapes/accounts.ts";
import { endpoint } from "../../server/endpoint.ts";
import { idSchema } from "../../../protocol/base/shapes.ts";
import { listOf } from "../../shapes/schemas.ts";

const nameParams = z.object({
  name: z
    .string()
    .min(1)
    .max(128)
    .refine((text) => !/[\p{Cc}\s/]/u.test(text), "no spaces and no /"),
});
const memberParams = nameParams.extend({ id: idSchema });

export const listGroups = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "List groups and their permissions",
  description: "`everyone` always exists: its permissions apply to every user. Admins can do everything.",
  answers: { 200: listOf(groupSchema) },
  async handle({ services }) {
    return { data: await services.users.groups() };
  },
});

export const saveGroup = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "Create a group, or set its permissions",
  description:
    "Permissions are `agent:<id>`, `model:<id>`, `tool:<name>`, `collection:<name>`, `room:<name>` and those that tools demand; " +
    "each may be a glob (`model:gpt-*`). " +
    "They count from the next request on, on other nodes within 30 seconds; what runs is cut back when it is next taken up.",
  params: nameParams,
  body: z.strictObject({ permissions: permissionsSchema }),
  answers: { 200: groupSchema.omit({ members: true }) },
  async handle({ params: { name }, body: { permissions }, services }) {
    await services.users.saveGroup(name, permissions);
    return { name, permissions };
  },
});

export const deleteGroup = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "Delete a group",
  description: "Of `everyone`: it grants again all agents, models and tools.",
  params: nameParams,
  answers: { 204: z.null() },
  async handle({ params, services, reply }) {
    await services.users.removeGroup(params.name);
    reply.code(204);
  },
});

export const listMembers = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "List the members of a group",
  params: nameParams,
  answers: { 200: listOf(memberSchema) },
  async handle({ params, services }) {
    return { data: await services.users.members(params.name) };
  },
});

export const addMember = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "Put a user into a group",
  params: memberParams,
  answers: { 204: z.null() },
  async handle({ params, services, reply }) {
    await services.users.addMember(params.name, params.id);
    reply.code(204);
  },
});

export const removeMember = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "Take a user out of a group",
  params: memberParams,
  answers: { 204: z.null() },
  async handle({ params, services, reply }) {
    await services.users.removeMember(params.name, params.id);
    reply.code(204);
  },
});
