import { z } from "zod";
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { isJsonObject } from "../../protocol/base/exact-json.ts";
import { ColloquyError } from "../../protocol/base/errors.ts";
import { completionOf, type McpCall, type McpSurface } from "./server-features.ts";

/** Facts about a call from its connection, besides the request itself. */
export type McpCallContext = Pick<McpCall, "cancelled" | "gone"> & {
  /** Of its call, as they were written; the SDK's copy leaves something out. Absent: it has none. */
  readonly arguments: McpCall["arguments"] | undefined;
};

const toolsPerPage = 250;
const idempotencyKey = "colloquy/idempotencyKey";
const outsideSchema = z.array(z.string().max(200)).min(1).max(20);

/** All that is listed depends on who asks, so nobody in between may keep it; a client may, for a while. */
const cacheHints = {
  "tools/list": { ttlMs: 30_000, cacheScope: "private" },
  "prompts/list": { ttlMs: 30_000, cacheScope: "private" },
  "resources/list": { ttlMs: 0, cacheScope: "private" },
  "resources/templates/list": { ttlMs: 300_000, cacheScope: "private" },
  "resources/read": { ttlMs: 0, cacheScope: "private" },
  "server/discover": { ttlMs: 300_000, cacheScope: "private" },
} as const;

/** A server of the SDK for one request, in either era of the protocol. */
export function createMcpServer(surface: McpSurface, exchange: McpCallContext): Server {
  const { info, instructions, prompts, resources } = surface;
  const server = new Server(info, {
    capabilities: {
      tools: {},
      ...(prompts && { prompts: {}, completions: {} }),
      ...(resources && { resources: {} }),
    },
    cacheHints,
    ...(instructions !== undefined && { instructions }),
  });
  serveTools(server, surface, exchange);
  if (prompts) servePrompts(server, prompts, resources);
  if (resources) serveResources(server, resources);
  return server;
}

function serveTools(server: Server, surface: McpSurface, exchange: McpCallContext): void {
  server.setRequestHandler("tools/list", async ({ params }) => {
    const tools = await surface.tools();
    const from = startOf(params?.cursor);
    const next = from + toolsPerPage;
    return {
      tools: tools.slice(from, next).map(({ definition }) => definition),
      ...(next < tools.length && { nextCursor: String(next) }),
    };
  });
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const tool = (await surface.tools()).find(({ definition }) => definition.name === params.name);
    if (!tool) throw invalidParams(`Tool ${JSON.stringify(params.name.slice(0, 128))} not found.`);
    const result = await protocolErrors(() => tool.call(callOf(exchange.arguments ?? {}, context, exchange)));
    return isInputRequiredResult(result) ? result : server.projectCallToolResult(result, undefined);
  });
}

/** Returns a call's arguments as they were sent, before the SDK copies them. */
export function argumentsIn(body: unknown): McpCallContext["arguments"] {
  const params = isJsonObject(body) ? body["params"] : undefined;
  const given = isJsonObject(params) ? params["arguments"] : undefined;
  return isJsonObject(given) ? given : undefined;
}

function servePrompts(
  server: Server,
  prompts: NonNullable<McpSurface["prompts"]>,
  resources: McpSurface["resources"],
): void {
  const find = (name: string) => prompts.find(({ definition }) => definition.name === name);
  server.setRequestHandler("prompts/list", () => ({ prompts: prompts.map(({ definition }) => definition) }));
  server.setRequestHandler("prompts/get", async ({ params }) => {
    const prompt = find(params.name);
    if (!prompt) throw invalidParams(`Prompt ${JSON.stringify(params.name.slice(0, 128))} not found.`);
    const values = params.arguments ?? {};
    const missing = prompt.definition.arguments?.find(({ name, required }) => required && !values[name]);
    if (missing) throw invalidParams(`The prompt ${params.name} needs the argument ${missing.name}.`);
    return protocolErrors(() => prompt.get(values));
  });
  server.setRequestHandler("completion/complete", async ({ params: { ref, argument } }) => {
    if (ref.type === "ref/resource") return completionOf(await resources?.complete?.(argument.value));
    const prompt = find(ref.name);
    if (!prompt) throw invalidParams(`Prompt ${JSON.stringify(ref.name.slice(0, 128))} not found.`);
    return completionOf(await prompt.complete?.(argument.name, argument.value));
  });
}

function serveResources(server: Server, resources: NonNullable<McpSurface["resources"]>): void {
  server.setRequestHandler("resources/list", async ({ params }) => ({ ...(await resources.list(params?.cursor)) }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...resources.templates] }));
  server.setRequestHandler("resources/read", async ({ params }) => {
    const found = await resources.read(params.uri);
    if (!found) throw new ResourceNotFoundError(params.uri);
    return found;
  });
}

function callOf(values: Record<string, unknown>, { mcpReq }: ServerContext, exchange: McpCallContext): McpCall {
  const key = mcpReq._meta?.[idempotencyKey];
  if (key !== undefined && (typeof key !== "string" || key === "" || key.length > 255))
    throw invalidParams(`_meta["${idempotencyKey}"] must be a text of 1 to 255 characters.`);
  const outside = outsideSchema.safeParse(mcpReq._meta?.["colloquy/outside"]);
  // The SDK has checked the envelope, but its type is empty.
  const envelope = mcpReq.envelope as { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined;
  const elicitation = envelope?.[CLIENT_CAPABILITIES_META_KEY]?.elicitation;
  return {
    ...(key !== undefined && { idempotencyKey: key }),
    ...(outside.success && { outside: outside.data }),
    ...exchange,
    arguments: values,
    progress: progressOf(mcpReq),
    canElicit: elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined),
    ...(mcpReq.requestState() !== undefined && { state: mcpReq.requestState() }),
    answers: (mcpReq.inputResponses ?? {}) as McpCall["answers"],
  };
}

/** Sends progress. Errors are ignored, since nobody listens any more then. */
function progressOf({ _meta, notify }: ServerContext["mcpReq"]): McpCall["progress"] {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let progress = 0;
  return (message) => {
    progress += 1;
    notify({ method: "notifications/progress", params: { progressToken, progress, message } }).catch(() => {});
  };
}

function startOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (!/^\d{1,9}$/.test(cursor)) throw invalidParams("This cursor is not valid.");
  return Number(cursor);
}

/** Converts callers' errors to the protocol's form; others are internal errors, without details. */
async function protocolErrors<Value>(body: () => Promise<Value>): Promise<Value> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof ColloquyError && error.status < 500) throw invalidParams(error.message, error);
    throw error;
  }
}

function invalidParams(message: string, cause?: unknown): ProtocolError {
  const error = new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  if (cause !== undefined) error.cause = cause;
  return error;
}
