import type { EndpointRoute } from "../server/endpoint.ts";
import { parentRunOf } from "../requests/run-headers.ts";
import { mcpRoutes } from "./mcp-endpoint.ts";
import { resourceMetadataRoutes } from "../server/resource-metadata.ts";
import { todoSurface } from "./todo-features.ts";
import { type Caller, restrictTo } from "../../protocol/base/callers.ts";
import type { Services } from "../server/services.ts";
import { askAgents, runResult } from "./ask-agents.ts";
import { colloquyPrompts } from "./prompts.ts";
import { registryTools } from "./registry-tools.ts";
import type { McpSurface, McpTool } from "./server-features.ts";
import { threadResources } from "./thread-resources.ts";

/** Colloquy as an MCP server, and the task tools as another one. */
export function allMcpRoutes(): EndpointRoute[] {
  return [
    ...mcpRoutes({
      path: "/mcp",
      needs: "ask",
      summary: "Colloquy as an MCP server",
      description:
        "Streamable HTTP, protocol 2026-07-28 and the older ones: your tools, the agents as `ask_<agent>`, prompts, and your " +
        "threads as resources.",
      surface: ({ services, caller, request }) => colloquySurface(services, caller, parentRunOf(request)),
    }),
    ...mcpRoutes({
      path: "/mcp/todo",
      needs: ["tasks:read", "tasks:write"],
      summary: "The task tools as an MCP server",
      description:
        'Streamable HTTP. `_meta["colloquy/idempotencyKey"]` makes a call that is sent again change nothing.',
      surface: ({ services, caller }) =>
        todoSurface(services.tasks, caller, {
          version: services.version,
          namesLists: services.access.mode === "local",
        }),
    }),
    ...resourceMetadataRoutes(["/mcp", "/mcp/todo"]),
  ];
}

const instructions = `Colloquy's tools, and its agents as tools named ask_<agent>. An answer of an agent names its thread: send it along to go on with the conversation. A call may have to wait for a person's decision; if its result says so, tell the user, and take the outcome with run_result.`;

/** Colloquy as an MCP server, for one caller. `within`: the header of a request that a run of ours sent. */
export function colloquySurface(
  services: Services,
  caller: Caller,
  within: { readonly within?: string } = {},
): McpSurface {
  const reader = restrictTo(caller, ["threads:read", "own"]);
  return {
    info: { name: "colloquy", title: "Colloquy", version: services.version },
    instructions,
    async tools() {
      const own = await registryTools(services, caller);
      const taken = new Set(own.map(({ definition }) => definition.name));
      const others = [...askAgents(services, caller, within), runResult(services, reader ?? caller)];
      return sorted([...own, ...others.filter(({ definition }) => !taken.has(definition.name))]);
    },
    prompts: colloquyPrompts(services, reader),
    ...(reader && { resources: threadResources(services, reader) }),
  };
}

function sorted(tools: readonly McpTool[]): readonly McpTool[] {
  return tools.toSorted((a, b) => (a.definition.name < b.definition.name ? -1 : 1));
}
