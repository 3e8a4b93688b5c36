import type { SwaggerOptions } from "@fastify/swagger";
import type { FastifySchema } from "fastify";
import { jsonSchemaTransform } from "fastify-type-provider-zod";
import { z } from "zod";
import { docsPage, docsPolicy } from "./docs-page.ts";
import { type Endpoint, endpoint, restName } from "./endpoint.ts";

/** How the document is made from the routes' schemas. */
export function openApiOptions(version: string, basePath = ""): SwaggerOptions {
  return {
    openapi: {
      openapi: "3.1.0",
      ...(basePath !== "" && { servers: [{ url: basePath }] }),
      info: {
        title: "Colloquy",
        version,
        description: "An agent server: OpenAI-compatible under /v1, its own API under /api.",
      },
      components: {
        securitySchemes: {
          apiKey: {
            type: "http",
            scheme: "bearer",
            description: "An API key or the token of a login, where there are accounts.",
          },
        },
      },
      security: [{ apiKey: [] }, {}],
      tags: [
        { name: "OpenAI", description: "For every client of OpenAI's API" },
        { name: "chat", description: "For chat pages: assistant-ui and the AI SDK" },
        { name: "runs", description: "Work in a thread, from an input to an answer" },
        { name: "threads", description: "Ordered, append-only lists of items" },
        { name: "files", description: "What tools and people work with in a thread: its workspace" },
        { name: "schedules", description: "Runs at set times" },
        { name: "agents", description: "Agents and their tools" },
        { name: "accounts", description: "Logging in, passwords and your API keys" },
        { name: "MCP", description: "The Model Context Protocol" },
        { name: "admin", description: "For admins: accounts, groups and runs" },
        { name: "server", description: "This server" },
      ],
    },
    transform: (route) => {
      const { schema, url } = jsonSchemaTransform(route);
      return { schema, url: url.replace(/\*$/, `:${restName(url)}`) };
    },
  };
}

const nativeErrorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), requestId: z.string(), param: z.string().optional() }),
});
const openAiErrorSchema = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string().nullable(),
  }),
});

/** What Fastify's schema of an endpoint is. */
export function schemaOf({ summary, description, tag, params, query, body, answers }: Endpoint): FastifySchema {
  return {
    summary,
    description,
    tags: [tag],
    response: { ...answers, "4xx": tag === "OpenAI" ? openAiErrorSchema : nativeErrorSchema },
    ...(params && { params }),
    ...(query && { querystring: query }),
    ...(body && { body }),
  };
}

export const openApiDocument = endpoint({
  tag: "server",
  summary: "This API as an OpenAPI document",
  open: () => true,
  answers: { 200: z.looseObject({ openapi: z.string() }) },
  handle: ({ request }) => request.server.swagger(),
});

export const docs = endpoint({
  tag: "server",
  summary: "This API as a page to read",
  open: () => true,
  answers: { 200: { description: "HTML", content: { "text/html": { schema: z.string() } } } },
  handle({ request, reply }) {
    reply.type("text/html; charset=utf-8").header("content-security-policy", docsPolicy);
    return docsPage(request.server.swagger());
  },
});
