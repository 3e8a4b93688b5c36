import { plainEnvironment } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { HealthDetails, Services } from "../http/server/services.ts";
import type { Log } from "../protocol/base/log.ts";
import { version } from "../protocol/base/version.ts";
import type { Finding } from "../protocol/people/overview.ts";
import { createMcpCredentials } from "../store/secrets/mcp-credentials.ts";
import { createMcpServers, findingOf, type McpServers } from "../tools/mcp/mcp-servers.ts";
import { createMcpSignIns } from "../tools/mcp/sign-in/mcp-sign-ins.ts";
import { createSignIns } from "../tools/mcp/sign-in/sign-ins.ts";
import type { ServerAddress } from "./start/address.ts";
import type { Store } from "./store.ts";
import type { OpenTasks } from "./tasks.ts";

export type OpenMcp = {
  readonly servers: McpServers;
  readonly signOut: ReturnType<typeof createMcpSignIns>["forget"];
  readonly services: Pick<Services, "mcp">;
  readonly findings: () => readonly Finding[];
  readonly health: () => HealthDetails;
  readonly close: () => Promise<void>;
};

type McpDeps = {
  readonly store: Pick<Store, "database" | "secret">;
  readonly tasks: Pick<OpenTasks, "source">;
  readonly address: ServerAddress;
  readonly log: Log;
  readonly runsJobs: boolean;
};

/** Opens the MCP servers and their sign-in. */
export function openMcp(config: Config, { store, tasks, address, log, runsJobs }: McpDeps): OpenMcp {
  const { database, secret } = store;
  const credentials = createMcpCredentials(database.query, secret);
  const signIns = createSignIns({ credentials, secret, base: address.base });
  const servers = createMcpServers({
    servers: config.mcpServers,
    // Many servers would share the start's CPU, and nobody asks for them before.
    after: address.listening,
    version,
    environment: plainEnvironment(),
    log,
    runsJobs,
    own: [tasks.source],
    credentialsFor: signIns.credentialsFor,
  });
  const mcp = createMcpSignIns(servers, signIns, address.base);
  return {
    servers,
    signOut: mcp.forget,
    services: { mcp },
    findings: () => servers.states().map(findingOf),
    health: () => ({ mcpServers: servers.states() }),
    close: servers.close,
  };
}
