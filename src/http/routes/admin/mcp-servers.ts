import { serverDoingSchema } from "../../../protocol/agents/definitions.ts";
import { mcpTrialSchema } from "../../../protocol/agents/trials.ts";
import {
  confirmedDraft,
  definitionEndpoints,
  definitionParams,
  draftSchema,
} from "../../requests/definition-endpoints.ts";
import { endpoint } from "../../server/endpoint.ts";
import { closedSignal } from "../../stream/sse.ts";

/** So long the list waits for servers that users sign in to. */
const maxMs = 1500;

export const adminMcpServers = definitionEndpoints("mcp-server", {
  one: "an MCP server",
  many: "MCP servers",
  shape: serverDoingSchema.shape,
  async look({ mcp }, caller) {
    const known = await mcp?.statesFor(caller, AbortSignal.timeout(maxMs));
    const states = new Map((known ?? []).map((state) => [state.name, state]));
    return ({ id, state }) => {
      const server = state === "active" ? states.get(id) : undefined;
      return { server: server ?? null };
    };
  },
});

export const tryMcpServer = endpoint({
  needs: "admin:definitions",
  tag: "admin",
  summary: "Connect to an MCP server now, and list its tools",
  description: "Also to one that rests after a failure. Where each user signs in, it is you who are asked to.",
  params: definitionParams,
  answers: { 200: mcpTrialSchema },
  async handle({ params, caller, services, reply }) {
    return services.trials.server(params.id, caller, closedSignal(reply));
  },
});

export const tryMcpServerDraft = endpoint({
  needs: "admin:definitions",
  tag: "admin",
  summary: "Connect to an MCP server without saving it, and list its tools",
  description: "The connection is closed afterwards. With the name of a stored definition, *** stands for its secrets.",
  body: draftSchema,
  answers: { 200: mcpTrialSchema },
  async handle({ body, caller, services, reply }) {
    return services.trials.server(
      confirmedDraft({ services, caller }, "mcp-server", body),
      caller,
      closedSignal(reply),
    );
  },
});
