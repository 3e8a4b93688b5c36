import type { EndpointRoute } from "./server/endpoint.ts";
import { adminAgents, exportAgent, tryAgent } from "./routes/admin/agents.ts";
import { clearDefault, listDefaults, setDefault } from "./routes/admin/defaults.ts";
import { adminMcpServers, tryMcpServer, tryMcpServerDraft } from "./routes/admin/mcp-servers.ts";
import { adminModels, findModels, tryModel, tryModelDraft } from "./routes/admin/models.ts";

/** Routes for what admins define without files. */
export const definitionRoutes: readonly EndpointRoute[] = [
  ["GET", "/api/admin/agents", adminAgents.list],
  ["POST", "/api/admin/agents", adminAgents.create],
  ["POST", "/api/admin/agents/validate", adminAgents.validate],
  ["GET", "/api/admin/agents/:id", adminAgents.get],
  ["PUT", "/api/admin/agents/:id", adminAgents.change],
  ["DELETE", "/api/admin/agents/:id", adminAgents.remove],
  ["GET", "/api/admin/agents/:id/export", exportAgent],
  ["POST", "/api/admin/agents/:id/try", tryAgent],

  ["GET", "/api/admin/models", adminModels.list],
  ["POST", "/api/admin/models", adminModels.create],
  ["POST", "/api/admin/models/validate", adminModels.validate],
  ["POST", "/api/admin/models/find", findModels],
  ["POST", "/api/admin/models/try", tryModelDraft],
  ["GET", "/api/admin/models/:id", adminModels.get],
  ["PUT", "/api/admin/models/:id", adminModels.change],
  ["DELETE", "/api/admin/models/:id", adminModels.remove],
  ["POST", "/api/admin/models/:id/try", tryModel],

  ["GET", "/api/admin/mcp-servers", adminMcpServers.list],
  ["POST", "/api/admin/mcp-servers", adminMcpServers.create],
  ["POST", "/api/admin/mcp-servers/validate", adminMcpServers.validate],
  ["POST", "/api/admin/mcp-servers/try", tryMcpServerDraft],
  ["GET", "/api/admin/mcp-servers/:id", adminMcpServers.get],
  ["PUT", "/api/admin/mcp-servers/:id", adminMcpServers.change],
  ["DELETE", "/api/admin/mcp-servers/:id", adminMcpServers.remove],
  ["POST", "/api/admin/mcp-servers/:id/try", tryMcpServer],

  ["GET", "/api/admin/defaults", listDefaults],
  ["PUT", "/api/admin/defaults/:of", setDefault],
  ["DELETE", "/api/admin/defaults/:of", clearDefault],
];
