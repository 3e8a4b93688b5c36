import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { createModels } from "../../src/models/registry.ts";
import { endpoint, type EndpointRoute } from "../../src/http/server/endpoint.ts";
import { eventSchema, eventStream } from "../../src/http/shapes/event-schema.ts";
import { serve, servicesWith } from "../serve.ts";

const shape = { needs: "nothing", tag: "server", summary: "Lies", answers: { 200: z.object({ a: z.int() }) } } as const;

/** Each answers otherwise than it says, past the framework where that is the only way. */
const routes: readonly EndpointRoute[] = [
  ["GET", "/api/true", endpoint({ ...shape, handle: () => ({ a: 1 }) })],
  ["GET", "/api/more", endpoint({ ...shape, handle: () => ({ a: 1, secret: "s" }) })],
  ["GET", "/api/type", endpoint({ ...shape, handle: ({ reply }) => reply.type("text/plain").send("a") })],
  [
    "GET",
    "/api/status",
    endpoint({
      ...shape,
      answers: { 218: z.null() },
      handle: ({ reply }) => reply.code(218).send({ a: 1 }),
    }),
  ],
  [
    "GET",
    "/api/raw",
    endpoint({
      ...shape,
      handle({ reply }) {
        reply.hijack();
        reply.raw.writeHead(200, { "content-type": "application/json" }).end(`{"a":`);
      },
    }),
  ],
  [
    "GET",
    "/api/stream",
    endpoint({
      ...shape,
      answers: { 200: eventStream("Numbers", eventSchema(z.number())) },
      handle: ({ reply, streams }) => streams.open(reply).end(`: hello\n\ndata: 1\n\ndata: "one"\n\n`),
    }),
  ],
  ["GET", "/api/undeclared", endpoint({ ...shape, handle: ({ reply }) => reply.code(304).send() })],
];

const server = await serve(servicesWith({ models: createModels({ models: [], adapters: {} }) }), 0, routes);
for (const [, path] of routes) await (await fetch(server.url + path)).arrayBuffer();
await wait(0);
await server.close();
