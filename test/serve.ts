import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { createAgentRegistry } from "../src/agents/registry.ts";
import { createApp } from "../src/http/app.ts";
import type { EndpointRoute } from "../src/http/server/endpoint.ts";
import type { Services } from "../src/http/server/services.ts";
import type { Caller } from "../src/protocol/base/callers.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import type { AuditLog } from "../src/store/metering/audit-log.ts";
import { createToolRegistry } from "../src/tools/core/registry.ts";

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
    runs: absent("runs"),
    threads: absent("threads"),
    approvals: absent("approvals"),
    adminRuns: absent("adminRuns"),
    schedules: absent("schedules"),
    tasks: absent("tasks"),
    taskList: absent("taskList"),
    folders: absent("folders"),
    listChanges: absent("listChanges"),
    preferences: { ...absent<Services["preferences"]>("preferences"), read: () => Promise.resolve({}) },
    users: absent("users"),
    shares: absent("shares"),
    uploads: absent("uploads"),
    knowledge: absent("knowledge"),
    embeddingModels: { ...absent<Services["embeddingModels"]>("embedding models"), list: () => Promise.resolve([]) },
    retrieval: absent("retrieval"),
    rooms: absent("rooms"),
    presence: absent("presence"),
    definitions: absent("definitions"),
    trials: absent("trials"),
    overview: { ...absent<Services["overview"]>("overview"), audit: { ...absent<AuditLog>("audit"), add: () => {} } },
    agents: createAgentRegistry([]),
    tools: createToolRegistry([]),
    workspaces: absent("workspaces"),
    fileLinks: absent("fileLinks"),
    callLog: { add: () => {} },
    health: () => Promise.resolve({}),
    unready: () => undefined,
    async drain(graceMs, isAnswering) {
      const end = performance.now() + graceMs;
      while (isAnswering() && performance.now() < end) await setTimeout(5);
    },
    examine: () => Promise.resolve([]),
    access: { mode: "local", owner, owning: "open" },
    server: { corsOrigins: [], graceMs: 1000 },
    log: silentLog,
    version: "0.0.0",
    ...given,
  };
}

export type Serving = { readonly app: FastifyInstance; readonly url: string; close(): Promise<void> };

/** A server on loopback, on a free port unless one is given. */
export async function serve(services: Services, asked = 0, more: readonly EndpointRoute[] = []): Promise<Serving> {
  const app = await createApp(services, more);
  await app.listen({ host: "127.0.0.1", port: asked });
  const { port } = app.server.address() as AddressInfo;
  return { app, url: `http://127.0.0.1:${port}`, close: () => app.close() };
}

/** A part that this test has not, and that must not be asked. */
function absent<Part extends object>(name: string): Part {
  return new Proxy({} as Part, {
    get: (_, verb) => () => {
      throw new Error(`${name}.${String(verb)}: this server has no ${name}`);
    },
  });
}
