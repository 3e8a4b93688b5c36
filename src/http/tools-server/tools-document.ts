import type { SwaggerOptions } from "@fastify/swagger";
import { z } from "zod";
import { jsonObjectSchema } from "../../protocol/base/shapes.ts";
import { listedToolSchema, toolAnswerSchema } from "../../protocol/agents/tools-api.ts";
import {
  servedCallSchema,
  servedOutcomeSchema,
  servedResultSchema,
  toolsServerVersion,
} from "../../protocol/agents/tools-server.ts";
import { eventSchema, eventStream } from "../shapes/event-schema.ts";
import { type DescribedEndpoint, documentTransform } from "../server/openapi.ts";

/** How a server of tools describes itself. */
export const toolsDocument: SwaggerOptions = {
  openapi: {
    openapi: "3.1.0",
    info: {
      title: "Colloquy: a server of tools",
      version: String(toolsServerVersion),
      description: "Tools for servers of agents, which keep the runs, the rights and the record of what was done.",
    },
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer", description: "TOOLS_TOKEN, where one is set." } },
    },
    security: [{ token: [] }],
    tags: [{ name: "server", description: "This server" }],
  },
  transform: documentTransform,
};

const nameParams = z.object({ name: z.string() });
const events = z.union([
  eventSchema(z.object({ text: z.string() }), "progress"),
  eventSchema(servedResultSchema, "result"),
]);

export const toolsRoutes = {
  health: {
    tag: "server",
    summary: "Whether the server works",
    open: () => true,
    answers: { 200: z.object({ status: z.literal("ok") }) },
  },
  document: {
    tag: "server",
    summary: "This API as an OpenAPI document",
    answers: { 200: z.looseObject({ openapi: z.string() }) },
  },
  list: {
    tag: "server",
    summary: "List the tools",
    answers: {
      200: z.object({
        success: z.literal(true),
        answer: z.string(),
        data: z.array(listedToolSchema),
        metadata: z.object({
          version: z.literal(toolsServerVersion),
          sandbox: z.object({ driver: z.string(), grade: z.string() }),
        }),
      }),
    },
  },
  ask: {
    tag: "server",
    summary: "Call a tool with its parameters as the body",
    params: nameParams,
    body: jsonObjectSchema,
    keepsNumbers: true,
    takesLong: true,
    answers: { 200: toolAnswerSchema },
  },
  call: {
    tag: "server",
    summary: "Call a tool for a run that lives elsewhere",
    params: nameParams,
    body: servedCallSchema,
    keepsNumbers: true,
    takesLong: true,
    answers: { 200: eventStream("Events `progress`, at the end one `result`", events) },
  },
  outcome: {
    tag: "server",
    summary: "Get the outcome of a call by its key",
    params: z.object({ key: z.string() }),
    answers: { 200: servedOutcomeSchema },
  },
} as const satisfies Readonly<Record<string, DescribedEndpoint>>;
