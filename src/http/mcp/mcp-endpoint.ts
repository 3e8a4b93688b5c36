import { randomUUID } from "node:crypto";
import { createMcpHandler } from "@modelcontextprotocol/server";
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { AccessDenied, messageOf } from "../../protocol/base/errors.ts";
import { toDoubles } from "../../protocol/base/exact-json.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { type EndpointCall, type Endpoint, endpoint, type EndpointRoute } from "../server/endpoint.ts";
import { eventSchema, eventStream } from "../shapes/event-schema.ts";
import { isOwnOrigin } from "../server/origins.ts";
import type { Cancellations, Services } from "../server/services.ts";
import { type SseStream, whenClosed } from "../stream/sse.ts";
import { createCancellations, cancelledRequestId } from "./cancellations.ts";
import { argumentsIn, createMcpServer, type McpCallContext } from "./mcp-server.ts";
import type { McpSurface } from "./server-features.ts";

export type McpEndpointOptions = {
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly needs: Endpoint["needs"];
  readonly surface: (call: EndpointCall) => McpSurface;
  /** How long an answer may be in coming before its connection shows that it lives; 10 s when absent. */
  readonly silenceMs?: number;
};

const sessionHeader = "mcp-session-id";
const defaultSilenceMs = 10_000;

const id = z.union([z.string(), z.number(), z.null()]).optional();
const jsonRpc = { jsonrpc: z.literal("2.0") };
/** An answer, or what an event stream tells or asks before it. */
const messageSchema = z.union([
  z.object({ ...jsonRpc, id, result: z.looseObject({}) }),
  z.object({ ...jsonRpc, id, error: z.looseObject({ code: z.int(), message: z.string() }) }),
  z.object({ ...jsonRpc, id, method: z.string(), params: z.looseObject({}).optional() }),
]);

/** Body that all of these servers accept. */
export const mcpBody = {
  decodesBody: true,
  keepsNumbers: true,
  takesLong: true,
  body: z.looseObject({ jsonrpc: z.literal("2.0"), method: z.string().optional() }),
} as const;

/** The routes of one MCP server over Streamable HTTP, in both eras of the protocol, without a state that a request needs. */
export function mcpRoutes({ path, surface, silenceMs, ...description }: McpEndpointOptions): EndpointRoute[] {
  const ownCancels = createCancellations();
  const serving: Endpoint = endpoint({
    tag: "MCP",
    ...description,
    ...mcpBody,
    answers: {
      200: eventStream("JSON, or events where it is long in coming", eventSchema(messageSchema, "message"), {
        "application/json": { schema: messageSchema },
      }),
      202: z.null().describe("Accepted; notifications get no answer"),
    },
    failure: messageSchema,
    handle: (call) =>
      serveMcp(call, {
        surface: () => surface(call),
        cancels: call.services.cancels ?? ownCancels,
        ...(silenceMs !== undefined && { silenceMs }),
      }),
  });
  // 405, in the protocol's own words: there are no sessions to follow or to end.
  const refusing: Endpoint = {
    ...serving,
    summary: "Not used, since there are no sessions",
    description: undefined,
    answers: {},
  };
  return [
    ["POST", path, serving],
    ["GET", path, { ...refusing, body: undefined }],
    ["DELETE", path, { ...refusing, body: undefined }],
  ];
}

/** Parts of a request that these servers need. */
export type McpRequest = Pick<EndpointCall, "request" | "reply" | "caller" | "streams"> & {
  readonly services: { readonly server: Pick<Services["server"], "corsOrigins"> };
};

export type McpServing = {
  /** Made when the request proves to be one that needs it. */
  readonly surface: () => McpSurface;
  /** Shared by all requests to one server. */
  readonly cancels: Cancellations;
  readonly silenceMs?: number;
};

/** Answers one request, whatever its method. */
export async function serveMcp(call: McpRequest, serving: McpServing): Promise<unknown> {
  const { request, reply, caller, services, streams } = call;
  const { surface, cancels, silenceMs = defaultSilenceMs } = serving;
  if (!isOwnOrigin(request) && !services.server.corsOrigins.includes(request.headers.origin ?? ""))
    throw new AccessDenied(403, "This origin is not allowed; add it to server.corsOrigins.", {
      code: "origin_refused",
    });
  // Whatever is long in coming becomes a stream.
  streams.admit(reply, caller.userId);
  const exchange = openExchange(reply, argumentsIn(request.body));
  // All but a call's arguments is the protocol's, whose numbers are doubles.
  request.body = toDoubles(request.body);
  const forget = noteCancels(call, cancels, exchange.cancel);
  const handler = createMcpHandler(
    ({ era }) => {
      exchange.era = era;
      return createMcpServer(surface(), exchange);
    },
    {
      // The streams of this server keep themselves alive.
      keepAliveMs: 0,
      onerror: (error) => request.log.debug({ error: messageOf(error) }, "MCP request"),
    },
  );
  try {
    const coming = handler.fetch(webRequest(request, exchange.gone), { parsedBody: request.body });
    return await answer(call, coming, silenceMs);
  } finally {
    forget();
  }
}

type OpenExchange = McpCallContext & { era: "modern" | "legacy"; readonly cancel: () => void };

/** In the newer protocol a client takes its call back by closing the connection; in the older one that means nothing. */
function openExchange({ raw }: FastifyReply, given: McpCallContext["arguments"]): OpenExchange {
  const gone = new AbortController();
  const cancelled = new AbortController();
  const exchange: OpenExchange = {
    era: "legacy",
    arguments: given,
    gone: gone.signal,
    cancelled: cancelled.signal,
    cancel: () => cancelled.abort(),
  };
  whenClosed(raw, () => {
    if (exchange.era === "modern" && !raw.writableEnded) cancelled.abort();
    gone.abort();
  });
  return exchange;
}

/** Notes how this request can be cancelled, or does what a request to cancel asks. */
function noteCancels({ request, caller }: McpRequest, cancels: Cancellations, cancel: () => void): () => void {
  const session = request.headers[sessionHeader];
  if (typeof session !== "string") return () => {};
  const place = sessionKey(caller, session);
  const cancelled = cancelledRequestId(request.body);
  if (cancelled !== undefined) cancels.cancel(place, cancelled);
  const id = idOf(request.body);
  return id === undefined ? () => {} : cancels.note(place, id, cancel);
}

function sessionKey({ userId }: Caller, session: string): string {
  return `${userId} ${session}`;
}

/** An answer that is long in coming becomes a stream, whose signs of life keep whoever is in between from giving up. */
async function answer(call: McpRequest, coming: Promise<Response>, silenceMs: number): Promise<unknown> {
  const { request, reply } = call;
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), silenceMs);
  const early = await Promise.race([coming, late]);
  clearTimeout(timer);
  if (!early) {
    const stream = openStream(call);
    await copy(await coming, stream);
    return reply;
  }
  const { status, headers } = early;
  const session = methodOf(request.body) === "initialize" ? { [sessionHeader]: randomUUID() } : undefined;
  if (isStream(early)) {
    await copy(early, openStream(call, session));
    return reply;
  }
  reply.code(status).headers({ ...session, "cache-control": "no-store" });
  return reply.type(headers.get("content-type") ?? "application/json").send(await early.text());
}

function openStream({ request, reply, streams }: McpRequest, headers?: Record<string, string>): SseStream {
  const id = idOf(request.body);
  const stream = streams.open(reply, {
    ...(headers && { headers }),
    farewell: () => errorEvent(id, "The server is stopping. Runs that have started continue when it is back."),
    refusal: ({ message }) => errorEvent(id, message),
  });
  // The headers leave with the first bytes only.
  stream.write(": a stream\n\n");
  return stream;
}

async function copy(response: Response, stream: SseStream): Promise<void> {
  if (!isStream(response)) return stream.end(`event: message\ndata: ${await response.text()}\n\n`);
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    if (stream.closed) break;
    stream.write(decoder.decode(bytes as Uint8Array, { stream: true }));
    await stream.drained();
  }
  stream.end();
}

function isStream({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

function errorEvent(id: string | number | undefined, message: string): string {
  const error = { jsonrpc: "2.0", id: id ?? null, error: { code: -32000, message } };
  return `event: message\ndata: ${JSON.stringify(error)}\n\n`;
}

/** The body is handed over beside it, parsed. */
function webRequest({ method, headers }: FastifyRequest, signal: AbortSignal): Request {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] as [string, string]] : [],
  );
  // Nothing looks at the URL; the Host header could be no host at all.
  return new Request("http://localhost/mcp", { method, headers: given, signal });
}

function methodOf(body: unknown): unknown {
  return typeof body === "object" && body !== null && "method" in body ? body.method : undefined;
}

function idOf(body: unknown): string | number | undefined {
  if (typeof body !== "object" || body === null || !("id" in body)) return undefined;
  return typeof body.id === "string" || typeof body.id === "number" ? body.id : undefined;
}
