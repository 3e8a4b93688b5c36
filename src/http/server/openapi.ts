import type { SwaggerOptions } from "@fastify/swagger";
import type { FastifySchema } from "fastify";
import { jsonSchemaTransform } from "fastify-type-provider-zod";
import { z } from "zod";
import { boundsOf } from "./body-bounds.ts";
import { sessionCookie } from "./auth.ts";
import { docsPage, docsPolicy } from "./docs-page.ts";
import { type ResponseContent, type Endpoint, endpoint, restName, type EndpointRoute } from "./endpoint.ts";
import { errorFormOf, errorSchemas } from "../shapes/error-schemas.ts";

/** One of them; in local mode none is asked for. */
const loginSchemes: readonly Record<string, string[]>[] = [{ apiKey: [] }, { session: [] }];

/** How the document is made from the routes' schemas. */
export function openApiOptions(version: string, basePath = ""): SwaggerOptions {
  return {
    openapi: {
      openapi: "3.1.0",
      ...(basePath !== "" && { servers: [{ url: basePath }] }),
      info: {
        title: "Colloquy",
        version,
        description:
          "An agent server: OpenAI-compatible under /v1, its own API under /api. The schema of an event stream is that of one " +
          "event: its `event` and `id`, where it has them, and its `data`, parsed. `x-scopes` says what an API key must name for an " +
          "operation, one of them: `own` is `ask`, for what the key itself began; `account` is for logins, and for no key.",
      },
      components: {
        securitySchemes: {
          apiKey: {
            type: "http",
            scheme: "bearer",
            description: "An API key or the token of a login, where there are accounts.",
          },
          session: {
            type: "apiKey",
            in: "cookie",
            name: sessionCookie,
            description: "The login of a page. What changes something needs the header x-colloquy-page too.",
          },
        },
      },
      security: [...loginSchemes],
      tags: [
        { name: "OpenAI", description: "For every client of OpenAI's API" },
        { name: "Anthropic", description: "For every client of Anthropic's Messages API" },
        { name: "Ollama", description: "For clients of Ollama" },
        { name: "chat", description: "For chat pages: assistant-ui and the AI SDK" },
        { name: "runs", description: "Work in a thread, from an input to an answer" },
        { name: "threads", description: "Ordered, append-only lists of items" },
        { name: "rooms", description: "Conversations of people and several agents" },
        { name: "files", description: "What tools and people work with in a thread: its workspace" },
        { name: "knowledge", description: "Collections of documents that agents search" },
        { name: "schedules", description: "Runs at set times" },
        { name: "tasks", description: "The list of tasks of each person" },
        { name: "agents", description: "Agents and their tools" },
        { name: "accounts", description: "Logging in, passwords and your API keys" },
        { name: "MCP", description: "The Model Context Protocol" },
        { name: "admin", description: "For admins: accounts, groups and runs" },
        { name: "server", description: "This server" },
      ],
    },
    transform: documentTransform,
  };
}

/** A route's schemas as JSON Schema. */
export function documentTransform(route: Parameters<typeof jsonSchemaTransform>[0]) {
  const { schema, url } = jsonSchemaTransform(route);
  return { schema: withoutSelf(schema), url: url.replace(/\*$/, `:${restName(url)}`) };
}

/** A schema that holds itself is named by what the document does not have: there it is any value. */
function withoutSelf<Value>(schema: Value): Value {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => (isSelf(value) ? {} : value)) as Value;
}

function isSelf(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("$ref" in value)) return false;
  return String(value.$ref).startsWith("#/components/schemas/schema");
}

const words: Readonly<Record<string, string>> = {
  200: "Done",
  201: "Made",
  202: "Accepted: it continues, or waits",
  204: "Done; no content",
  302: "Sends the browser on",
  304: "It is still what `If-None-Match` names",
};

/** Answers without a description of their own get one. */
function withWords(answers: Endpoint["answers"]): Endpoint["answers"] {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]): [string, ResponseContent | undefined] => {
      const word = words[status];
      const isBare = answer instanceof z.ZodType && answer.description === undefined && word !== undefined;
      return [status, isBare ? answer.describe(word) : answer];
    }),
  );
}

/** `GET /api/threads/:id/items` is `getApiThreadsByIdItems`. */
function operationIdOf(method: string, path: string): string {
  const words = path.replace(/\*$/, `:${restName(path)}`).split(/[^\w:]+/);
  const named = words.map((word) => (word.startsWith(":") ? `By${capital(word.slice(1))}` : capital(word)));
  return method.toLowerCase() + (named.join("") || "Home");
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** An endpoint of this or another of our servers, which may have other access rules. */
export type DescribedEndpoint = Omit<Endpoint, "handle" | "needs"> & Partial<Pick<Endpoint, "needs">>;
type DescribedRoute = readonly [method: EndpointRoute[0], path: string, endpoint: DescribedEndpoint];

/** Extension of an operation that tells the bounds of its JSON body. */
const boundsName = "x-body-bounds";

/** Returns Fastify's schema of a route; `maxBytes` as configured. */
export function schemaOf([method, path, endpoint]: DescribedRoute, maxBytes?: number): FastifySchema {
  const { summary, description, tag, params, query, body, answers, failure, open, needs } = endpoint;
  const usual = errorSchemas[errorFormOf(path)];
  const error = failure ? z.union([usual, failure]) : usual;
  return {
    operationId: operationIdOf(String(method), path),
    summary,
    description,
    tags: [tag],
    ...(needs && needs !== "nothing" && { "x-scopes": typeof needs === "string" ? [needs] : [...needs] }),
    // An `open` that does not look at the request lets everybody in.
    ...(open && { security: open.length === 0 ? [] : [...loginSchemes, {}] }),
    response: { "4xx": error.describe("Refused"), "5xx": error.describe("Failed"), ...withWords(answers) },
    ...(params && { params }),
    ...(query && { querystring: query }),
    ...(body && { body, [boundsName]: boundsOf(endpoint, maxBytes) }),
  } as FastifySchema;
}

export const openApiDocument = endpoint({
  needs: "nothing",
  tag: "server",
  summary: "This API as an OpenAPI document",
  open: () => true,
  standsAlone: true,
  takesHead: true,
  answers: { 200: z.looseObject({ openapi: z.string() }) },
  handle: ({ request }) => request.server.swagger(),
});

export const docs = endpoint({
  needs: "nothing",
  tag: "server",
  summary: "This API as a page to read",
  open: () => true,
  standsAlone: true,
  takesHead: true,
  answers: { 200: { description: "HTML", content: { "text/html": { schema: z.string() } } } },
  handle({ request, reply }) {
    reply.type("text/html; charset=utf-8").header("content-security-policy", docsPolicy);
    return docsPage(request.server.swagger());
  },
});
