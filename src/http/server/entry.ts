import type { FastifyReply, FastifyRequest } from "fastify";
import {
  type Caller,
  callerOf,
  callerOfOldKey,
  mayUse,
  asAreaAdmin,
  restrictTo,
  isAsker,
} from "../../protocol/base/callers.ts";
import { AccessDenied } from "../../protocol/base/errors.ts";
import type { FindByKey, ServerSettings, Services } from "./services.ts";
import { permittedAgents } from "../../agents/registry.ts";
import { networkOf } from "../../people/network.ts";
import { pathOf } from "./origins.ts";
import { createRateLimits } from "./rate-limits.ts";
import type { ModelRegistry } from "../../protocol/agents/models.ts";
import { isForAdmins, type RequiredScope, scopesFor } from "../../protocol/base/scopes.ts";

/** Who came in, and with which key or login. */
export type AuthenticatedRequest = {
  readonly caller: Caller;
  readonly keyId?: string;
  readonly sessionId?: string;
  /** When its key counts no more, which is from before keys had scopes. */
  readonly keyEnds?: Date;
};

/** How long keys from before keys had scopes count, from the update on. */
const unscopedMs = 90 * 86_400_000;

/** Finds out who asks, or throws AccessDenied. */
export type Authenticate = (request: FastifyRequest) => AuthenticatedRequest | Promise<AuthenticatedRequest>;

/** Header that the page sends with every change: another site's form can't, and its fetch is refused before. */
export const pageHeader = "x-colloquy-page";

/** Returns the token after `Bearer`; undefined: nothing that could be one of our keys. */
export function bearerOf(request: FastifyRequest): string | undefined {
  const { headers } = request;
  return /^Bearer (\S{1,4000})$/i.exec(headers.authorization ?? "")?.[1] ?? anthropicKeyOf(request);
}

/** Clients of Anthropic's protocol send their key in a header of its own; at no other route does it mean anything. */
function anthropicKeyOf(request: FastifyRequest): string | undefined {
  const key = request.headers["x-api-key"];
  if (typeof key !== "string" || !/^\/v1\/(?:messages|models)(?:\/|$)/.test(pathOf(request))) return undefined;
  return /^\S{1,4000}$/.test(key) ? key : undefined;
}

/** Whether the client speaks Anthropic's protocol, whichever version of it. */
export function isAnthropic({ headers }: Pick<FastifyRequest, "headers">): boolean {
  return headers["anthropic-version"] !== undefined;
}

/** With an API key, `ck_…`. Throws AccessDenied for one that counts no more. */
export async function enterByKey(findByKey: FindByKey, text: string): Promise<AuthenticatedRequest> {
  const found = await findByKey(text);
  if (!found) throw new AccessDenied(401, "This API key is unknown, revoked or expired.", { code: "invalid_api_key" });
  const { user, key } = found;
  if (user.disabled) throw disabled();
  if (!key) return { caller: callerOf(user, "api-key") };
  const { id, scopes, unscopedUntil } = key;
  if (!unscopedUntil) return { caller: { ...callerOf(user, "api-key", scopes ?? []), key: id }, keyId: id };
  if (unscopedUntil <= new Date())
    throw new AccessDenied(
      401,
      `This API key has no scopes and expired on ${dayOf(unscopedUntil)}. Log in and set its scopes, in the settings or with PATCH /api/auth/keys/${id} {"scopes": ["agents:*"]}, or create another key.`,
      { code: "key_unscoped" },
    );
  const caller = scopes ? callerOfOldKey(user, scopes) : callerOf(user, "api-key");
  return { caller: { ...caller, key: id }, keyId: id, keyEnds: unscopedUntil };
}

/** Tells whoever holds a key from before keys had scopes when it ends: by the headers of RFC 9745 and 8594, and in words. */
export function announceKeyExpiry(reply: FastifyReply, { keyEnds }: AuthenticatedRequest): void {
  if (!keyEnds) return;
  reply
    .header("deprecation", `@${Math.floor((keyEnds.getTime() - unscopedMs) / 1000)}`)
    .header("sunset", keyEnds.toUTCString())
    .header(
      "x-colloquy-warning",
      `This API key has no scopes and expires on ${dayOf(keyEnds)}: set its scopes, in the settings or with PATCH /api/auth/keys/{id}`,
    );
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

export function disabled(): AccessDenied {
  return new AccessDenied(401, "This account is disabled.", { code: "account_disabled" });
}

/** Lets a request in, before its body is read: who asks, unless the route is open, and whether they ask too often. */
export type Entrance = (
  request: FastifyRequest,
  reply: FastifyReply,
  isOpen: boolean,
) => Promise<AuthenticatedRequest | undefined>;

/** In local mode there are no limits: `requestsPerMinute` is for accounts. */
export function createEntrance(
  authenticate: Authenticate,
  { requestsPerMinute = 0, sharedCounts }: ServerSettings,
): Entrance {
  const limits = createRateLimits(requestsPerMinute, sharedCounts);
  const byAddress = (request: FastifyRequest, reply: FastifyReply) =>
    limits.take(reply, [`address ${networkOf(request.ip)}`]);
  return async (request, reply, isOpen) => {
    if (isOpen) {
      byAddress(request, reply);
      return undefined;
    }
    let entry: AuthenticatedRequest;
    try {
      entry = await authenticate(request);
    } catch (error) {
      byAddress(request, reply);
      throw error;
    }
    const { caller, keyId } = entry;
    // Not commands on this machine.
    if (caller.via !== "local")
      limits.take(reply, [`user ${caller.userId}`, ...(keyId === undefined ? [] : [`key ${keyId}`])]);
    return entry;
  };
}

/** A caller sees the agents and models that there are for it, whatever the route. */
export function servicesFor(services: Services, caller: Caller): Services {
  const agents = permittedAgents(services.agents, caller);
  const models = permittedModels(services.models, caller);
  return agents === services.agents && models === services.models ? services : { ...services, agents, models };
}

/** The models that a caller may ask straight. `get` still knows all: who may use an agent uses its model with it. */
function permittedModels(models: ModelRegistry, caller: Caller): ModelRegistry {
  if (mayUse(caller, "model", "*")) return models;
  const permitted = models.list().filter(({ id }) => mayUse(caller, "model", id));
  return {
    get: models.get,
    has: (asked) =>
      models.has(asked) && permitted.some(({ id, provider, name }) => id === asked || `${provider}/${name}` === asked),
    list: () => permitted,
  };
}

/**
 * Who does what needs this: the caller, maybe held to its key's own, or AccessDenied (403) is thrown. A key that may do an admin's work in one area is an admin
 * there, and nowhere else.
 */
export function authorize(caller: Caller, needs: RequiredScope): Caller {
  const held = restrictTo(caller, needs);
  if (held) return isForAdmins(needs) ? asAreaAdmin(held) : held;
  if (isAsker(caller))
    throw new AccessDenied(
      403,
      "Only the owner of this server can do this. To manage it from this browser, run `./colloquy open`.",
      {
        code: "owner_needed",
      },
    );
  if (needs === "account")
    throw new AccessDenied(403, "API keys can't change the account. Log in instead.", {
      code: "key_scoped",
    });
  if (!caller.scopes) throw new AccessDenied(403, "Only an admin may do this.");
  throw new AccessDenied(403, `This needs the scope ${scopesFor(needs).join(" or ")}, which the key does not have.`, {
    code: "insufficient_scope",
  });
}

/** Requires a logged-in admin to change an admin's access or export an admin's data: no key reaches further than its scopes. */
export function authorizeAccountAdmin(caller: Caller, role: Caller["role"] | undefined): void {
  if (role === "admin") authorize(caller, "account");
}
