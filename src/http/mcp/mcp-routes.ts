import type { Route } from "../endpoint.ts";
import { withinOf } from "../within.ts";
import { colloquySurface } from "./colloquy-surface.ts";
import { mcpRoutes } from "./mcp-endpoint.ts";
import { resourceMetadataRoutes } from "./resource-metadata.ts";
import { todoSurface } from "./todo-surface.ts";

/** Colloquy as an MCP server, and the task tools as another one. */
export function allMcpRoutes(): Route[] {
  return [
    ...mcpRoutes({
      path: "/mcp",
      summary: "Colloquy as an MCP server",
      description:
        "Streamable HTTP, protocol 2026-07-28 and the older ones: your tools, the agents as `ask_<agent>`, prompts, and your " +
        "threads as resources.",
      surface: ({ services, caller, request }) => colloquySurface(services, caller, withinOf(request)),
    }),
    ...mcpRoutes({
      path: "/mcp/todo",
      summary: "The task tools as an MCP server",
      description:
        'Streamable HTTP. `_meta["colloquy/idempotencyKey"]` makes a call that is sent again change nothing.',
      surface: ({ services, caller }) => todoSurface(services.tasks, caller, services.version),
    }),
    ...resourceMetadataRoutes(["/mcp", "/mcp/todo"]),
  ];
}
