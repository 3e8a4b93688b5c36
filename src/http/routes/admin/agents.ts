import { z } from "zod";
import { agentDoingSchema } from "../../../protocol/agents/definitions.ts";
import { startedRunSchema } from "../../../protocol/threads/run-shapes.ts";
import { agentFile } from "../../../agents/front-matter.ts";
import { unknownReferences } from "../../../agents/unknown-references.ts";
import { agentSchema } from "../../../protocol/agents/agents.ts";
import { NotFound } from "../../../protocol/base/errors.ts";
import { formatCursor } from "../../../protocol/threads/events.ts";
import { definitionEndpoints, definitionParams } from "../../requests/definition-endpoints.ts";
import { endpoint } from "../../server/endpoint.ts";

export const adminAgents = definitionEndpoints("agent", {
  one: "an agent",
  many: "agents",
  shape: agentDoingSchema.shape,
  async look({ agents, definitions }) {
    const known = definitions.knownNames();
    return ({ id, state }) => {
      const agent = state === "active" && agents.has(id) ? agents.get(id) : undefined;
      return { model: agent?.model ?? null, warnings: agent ? unknownReferences(agent, known) : [] };
    };
  },
});

export const exportAgent = endpoint({
  needs: "admin:definitions",
  tag: "admin",
  summary: "An agent as the Markdown file that says the same",
  description: "Put into the folder of agents it takes the place of the definition here.",
  params: definitionParams,
  query: z.object({ source: z.literal("database").optional().describe("The entry of the database, though shadowed") }),
  answers: { 200: { description: "The file", content: { "text/markdown": { schema: z.string() } } } },
  handle({ params, query, services, reply }) {
    const { id, definition } = services.definitions.find("agent", params.id, query.source === "database");
    const parsed = agentSchema.safeParse({ ...(definition as object), id });
    if (!parsed.success) throw new NotFound(`The agent "${id}" is not one that a file could hold.`);
    return reply
      .header("content-disposition", `attachment; filename="${id}.md"`)
      .type("text/markdown; charset=utf-8")
      .send(agentFile(parsed.data));
  },
});

export const tryAgent = endpoint({
  needs: "admin:definitions",
  tag: "admin",
  summary: "Try an agent",
  description: "A run in a new thread of yours, like every other: follow it at `/api/runs/{id}/events`.",
  params: definitionParams,
  body: z.strictObject({ prompt: z.string().min(1).max(100_000) }),
  answers: { 202: startedRunSchema.pick({ id: true, threadId: true, cursor: true }) },
  async handle({ params, body, caller, services, reply }) {
    const started = await services.runs.start(caller, {
      agent: params.id,
      title: `Trial of ${params.id}`,
      message: { content: body.prompt },
    });
    const { runId, threadId, cursor } = started;
    reply.code(202).header("location", `/api/runs/${runId}`).header("x-colloquy-run", runId);
    return { id: runId, threadId, cursor: formatCursor(cursor) };
  },
});
