import type { FastifyReply, FastifyRequest } from "fastify";
import { permittedAgents } from "../../agents/permitted-agents.ts";
import { permittedModels } from "../../models/permitted-models.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { networkOf } from "../../people/network.ts";
import { createRateLimits } from "./rate-limits.ts";
import type { Authenticate, AuthenticatedRequest } from "./entry.ts";
import type { ServerSettings, Services } from "./services.ts";

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
