import { z } from "zod";
import {
  roleSchema,
  inviteSchema,
  madeInviteSchema,
  resetSchema,
  type InviteView,
} from "../../../protocol/people/accounts.ts";
import type { AccountLink } from "../../../store/people/account-links.ts";
import { accountsOf } from "../../requests/visitor.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { authorizeAccountAdmin } from "../../server/entry.ts";
import { baseOf } from "../../server/origins.ts";
import { idParams, listOf } from "../../shapes/schemas.ts";

export const resetUser = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "Make a link with which a person sets a new password",
  description: "For a day; it takes the place of the one before.",
  params: idParams,
  answers: { 201: resetSchema },
  async handle(call) {
    authorizeAccountAdmin(call.caller, await call.services.users.roleOf(call.params.id));
    const link = await call.services.users.reset(call.params.id);
    call.reply.code(201);
    return { ...placeOfLink(call, link, "reset"), expiresAt: link.expiresAt.toISOString() };
  },
});

export const logUserOut = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "End all logins of an account",
  description: "Here at once, on other nodes within 30 seconds. Its API keys stay.",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ caller, params, services, reply }) {
    authorizeAccountAdmin(caller, await services.users.roleOf(params.id));
    await services.users.logOut(params.id);
    reply.code(204);
  },
});

export const invite = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "Make a link with which a person makes an account",
  body: z.strictObject({
    role: roleSchema.default("user"),
    groups: z.array(z.string().max(64)).max(50).default([]),
    days: z.number().positive().max(365).default(7),
  }),
  answers: { 201: madeInviteSchema },
  async handle(call) {
    authorizeAccountAdmin(call.caller, call.body.role);
    const link = await call.services.users.invite(call.body);
    call.reply.code(201);
    return { ...view(link), ...placeOfLink(call, link, "signup") };
  },
});

export const listInvites = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "List unused invitations",
  answers: { 200: listOf(inviteSchema) },
  async handle({ services }) {
    return { data: (await services.users.invites()).map(view) };
  },
});

export const withdrawInvite = endpoint({
  needs: "admin:users",
  tag: "admin",
  summary: "Withdraw an invitation",
  params: idParams,
  answers: { 204: z.null() },
  async handle({ params, services, reply }) {
    await services.users.removeInvite(params.id);
    reply.code(204);
  },
});

/** Behind the #, where no server's log and no other site sees it. */
function placeOfLink(
  { request, services }: EndpointCall,
  link: AccountLink,
  page: string,
): { url: string; token: string } {
  const token = accountsOf(services).tokenOf(link);
  return { url: `${baseOf(request)}/${page}#${token}`, token };
}

function view({ id, role, groups, createdAt, expiresAt }: AccountLink): InviteView {
  return { id, role, groups, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
}
