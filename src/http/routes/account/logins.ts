import { z } from "zod";
import { loginSchema, type LoginView } from "../../../protocol/people/accounts.ts";
import { loginsOf } from "../../requests/visitor.ts";
import { endpoint } from "../../server/endpoint.ts";
import { idParams, listOf } from "../../shapes/schemas.ts";

export const listLogins = endpoint({
  needs: "account",
  tag: "accounts",
  summary: "List where you are logged in",
  answers: { 200: listOf(loginSchema) },
  async handle({ caller, sessionId, services }) {
    const data = (await loginsOf(services).sessions(caller.userId)).map(({ id, label, ...times }): LoginView => ({
      id,
      label,
      current: id === sessionId,
      createdAt: times.createdAt.toISOString(),
      lastUsedAt: times.lastUsedAt.toISOString(),
      expiresAt: times.expiresAt.toISOString(),
    }));
    return { data };
  },
});

export const endLogin = endpoint({
  needs: "account",
  tag: "accounts",
  summary: "End one of your logins",
  params: idParams,
  answers: { 204: z.null() },
  async handle(call) {
    await loginsOf(call.services).endSession(call.caller.userId, call.params.id);
    call.reply.code(204);
  },
});

export const endOtherLogins = endpoint({
  needs: "account",
  tag: "accounts",
  summary: "End all your logins but this one",
  answers: { 204: z.null() },
  async handle(call) {
    await loginsOf(call.services).endSessions(call.caller.userId, call.sessionId);
    call.reply.code(204);
  },
});
