import { timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { type Caller, callerOf } from "../protocol/callers.ts";
import { Denied } from "../protocol/errors.ts";
import type { Access } from "./services.ts";

/** Finds out who asks, or throws Denied. Local mode answers at once. */
export type Authenticate = (request: FastifyRequest) => Caller | Promise<Caller>;

export function createAuthenticate(access: Access): Authenticate {
  if (access.mode === "local") return () => access.owner;
  return async (request) => {
    if (access.local && isToken(request.headers.authorization, access.local.token)) return access.local.owner;
    const key = /^Bearer (ck_\S{1,200})$/i.exec(request.headers.authorization ?? "")?.[1];
    if (key === undefined) throw new Denied(401, "Log in with the header Authorization: Bearer ck_… (an API key).");
    const found = await access.findByKey(key);
    if (!found) throw new Denied(401, "This API key is unknown or revoked.", { code: "invalid_api_key" });
    if (found.user.disabled) throw new Denied(401, "This account is disabled.", { code: "account_disabled" });
    return callerOf(found.user, "api-key");
  };
}

function isToken(header: string | undefined, token: string): boolean {
  const given = Buffer.from(header ?? "");
  const expected = Buffer.from(`Bearer ${token}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
