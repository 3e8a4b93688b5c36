import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { createApp } from "../src/http/app.ts";
import type { Services } from "../src/http/services.ts";
import type { AgentDefinition, AgentRegistry } from "../src/protocol/agents.ts";
import type { Caller } from "../src/protocol/callers.ts";
import { NotFound } from "../src/protocol/errors.ts";
import { silentLog } from "../src/protocol/log.ts";
import type { ToolRegistry } from "../src/protocol/tools.ts";
import type { Runs } from "../src/run/runs.ts";

export const owner: Caller = {
  userId: "018f0000-0000-7000-8000-000000000001",
  name: "owner",
  role: "admin",
  permissions: ["*"],
  via: "local",
};

/** Services for a server of which only some parts matter: no agents, no tools, no runs but those given. */
export function servicesWith(given: Pick<Services, "models"> & Partial<Services>): Services {
  return {
    runs: withoutRuns,
    agents: agentsOf([]),
    tools: withoutTools,
    callLog: { add: () => {} },
    users: { list: () => Promise.resolve([]), add: () => Promise.reject(new NotFound("There are no accounts here.")) },
    health: () => Promise.resolve({}),
    access: { mode: "local", owner },
    server: { corsOrigins: [], graceMs: 1000 },
    log: silentLog,
    version: "0.0.0",
    ...given,
  };
}

export type Serving = { readonly app: FastifyInstance; readonly url: string; close(): Promise<void> };

/** A server on loopback, on a free port unless one is given. */
export async function serve(services: Services, asked = 0): Promise<Serving> {
  const app = await createApp(services);
  await app.listen({ host: "127.0.0.1", port: asked });
  const { port } = app.server.address() as AddressInfo;
  return { app, url: `http://127.0.0.1:${port}`, close: () => app.close() };
}

export function agentsOf(agents: readonly AgentDefinition[]): AgentRegistry {
  return {
    get(id) {
      const found = agents.find((agent) => agent.id === id);
      if (!found) throw new NotFound(`There is no agent ${id}.`);
      return found;
    },
    has: (id) => agents.some((agent) => agent.id === id),
    list: () => agents,
  };
}

const withoutTools: ToolRegistry = { get: () => undefined, select: () => [], list: () => [] };

/** For tests in which no run may be started. */
const withoutRuns: Runs = new Proxy({} as Runs, {
  get: (_, verb) => () => {
    throw new Error(`runs.${String(verb)}: this server has no runs`);
  },
});
