import { z } from "zod";
import { definitionEndpoints, definitionParams, draftSchema } from "../definitions/definition-endpoints.ts";
import { endpoint } from "../endpoint.ts";
import { mcpServerSchema } from "../mcp-server-view.ts";
import { closedSignal } from "../closed-signal.ts";
import { requireAdmin } from "../require-admin.ts";
import type { McpServerState } from "../../protocol/mcp-servers.ts";
import type { ServerTrial } from "../../tools/mcp/try-server.ts";

const doing = "How it is doing on this node, for you where each user signs in; null: it is not connected to";
/** So long the list waits for servers that users sign in to. */
const mostMs = 1500;

export const adminMcpServers = definitionEndpoints("mcp-server", {
  one: "an MCP server",
  many: "MCP servers",
  shape: { server: mcpServerSchema.nullable().describe(doing) },
  async look({ mcp }, caller) {
    const known = await mcp?.statesFor(caller, AbortSignal.timeout(mostMs));
    const states = new Map((known ?? []).map((state) => [state.name, state]));
    return ({ id, state }) => {
      const server = state === "active" ? states.get(id) : undefined;
      return { server: server ? serverView(server) : null };
    };
  },
});

const trialSchema = z.object({
  server: mcpServerSchema,
  totalMs: z.int(),
  tools: z.array(
    z.object({
      name: z.string().describe("As agents name it, and as it is called at `/api/tools/{name}/calls`"),
      description: z.string(),
      effect: z.enum(["read", "write"]),
      destructive: z.boolean(),
      parameters: z.record(z.string(), z.unknown()),
    }),
  ),
});

function serverView(state: McpServerState): z.output<typeof mcpServerSchema> {
  return { ...state, unusable: [...state.unusable] };
}

function trialView({ state, totalMs, tools }: ServerTrial): z.output<typeof trialSchema> {
  return { server: serverView(state), totalMs, tools: [...tools] };
}

export const tryMcpServer = endpoint({
  tag: "admin",
  summary: "Connect to an MCP server now, and list its tools",
  description: "Also to one that rests after a failure. Where each user signs in, it is you who are asked to.",
  params: definitionParams,
  answers: { 200: trialSchema },
  async handle({ params, caller, services, reply }) {
    requireAdmin(caller);
    return trialView(await services.trials.server(params.id, caller, closedSignal(reply)));
  },
});

export const tryMcpServerDraft = endpoint({
  tag: "admin",
  summary: "Connect to an MCP server that is not kept, and list its tools",
  description: "It is left again. With the name of one that is defined here, *** stands for its secrets.",
  body: draftSchema,
  answers: { 200: trialSchema },
  async handle({ body, caller, services, reply }) {
    requireAdmin(caller);
    return trialView(await services.trials.server(body, caller, closedSignal(reply)));
  },
});
