import { createHash, timingSafeEqual } from "node:crypto";
import swagger from "@fastify/swagger";
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RouteShorthandOptions,
} from "fastify";
import { z } from "zod";
import { AccessDenied, InvalidInput, messageOf, NotFound } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { SandboxState } from "../../protocol/agents/sandboxes.ts";
import { jsonObjectSchema } from "../../protocol/base/shapes.ts";
import { listedTool, readToolCall, toolAnswer } from "../../protocol/agents/tools-api.ts";
import { type ServedCall, servedCallSchema, toolsServerVersion } from "../../protocol/agents/tools-server.ts";
import type { Tool, ToolResult } from "../../protocol/agents/tools.ts";
import { parseCall, unknownTool } from "../../tools/core/call-tool.ts";
import { errorResult } from "../../tools/core/tool-result.ts";
import { bodyOptions, fewBounds, boundBodies, connectionBounds } from "../server/body-bounds.ts";
import { answerError, answerUnknownRoute, answerUnrouted } from "../server/errors.ts";
import { acceptJsonBodies } from "../server/json-body.ts";
import { schemaOf } from "../server/openapi.ts";
import { checkLocalOrigin, portsOf } from "../server/origins.ts";
import { fastifyLog } from "../server/request-log.ts";
import { invalidInput } from "../server/validate.ts";
import { createSseStreams, whenClosed } from "../stream/sse.ts";
import { contextOf, callWithoutRun } from "./call-context.ts";
import { createServedCalls } from "./served-calls.ts";
import { toolsDocument, toolsRoutes } from "./tools-document.ts";

export type ToolsAppOptions = {
  /** None of `scope: 'local'`: those work on tables that are not here. */
  readonly tools: readonly Tool[];
  /** Whoever shows it may call all tools. Absent: whoever is on this machine. */
  readonly token?: string | undefined;
  readonly sandbox: () => Promise<Pick<SandboxState, "driver" | "grade">>;
  readonly log: Log;
};

export type ToolsApp = {
  readonly app: FastifyInstance;
  /** Lets calls at work finish for so long, and stops the others. */
  stop(graceMs: number): Promise<void>;
};

const maxBytes = 4 * 1024 * 1024;
const lastAnswersMs = 2000;
const keyPattern = /^[\x21-\x7e]{1,255}$/;

/** Tools as a server of their own: no runs, no accounts, no database. */
export function createToolsApp({ tools, token, sandbox, log }: ToolsAppOptions): ToolsApp {
  const app = fastify({
    loggerInstance: fastifyLog(log),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
    bodyLimit: fewBounds.bytes,
    ...connectionBounds(),
    forceCloseConnections: "idle",
    exposeHeadRoutes: false,
    frameworkErrors: answerUnrouted,
    routerOptions: { ignoreTrailingSlash: true },
  });
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const calls = createServedCalls();
  const streams = createSseStreams();
  const stopping = new AbortController();
  const isToken = token === undefined ? () => true : tokenCheck(token);

  app.setErrorHandler(answerError);
  app.setNotFoundHandler(answerUnknownRoute);
  acceptJsonBodies(app);
  boundBodies(app);
  app.addHook("onRequest", (request, _reply, done) => {
    if (token === undefined) checkLocalOrigin(request, { originsAt: () => [], hosts: [], ports: () => portsOf(app) });
    else if (request.url !== "/health" && !isToken(request.headers.authorization))
      throw new AccessDenied(401, "Send the header Authorization: Bearer <TOOLS_TOKEN>.");
    done();
  });

  const find = (request: FastifyRequest): Tool => {
    const { name } = read(z.object({ name: z.string() }), request.params);
    const tool = byName.get(name);
    if (tool) return tool;
    throw new NotFound(unknownTool(name, tools).content, { code: "tool_not_found", param: "name" });
  };
  /** Until whoever asked is gone, or the server stops. */
  const signalFor = (reply: FastifyReply): AbortSignal => {
    const gone = new AbortController();
    whenClosed(reply.raw, () => gone.abort(new Error("The caller disconnected.")));
    return AbortSignal.any([gone.signal, stopping.signal]);
  };
  const perform = async (tool: Tool, call: ServedCall, how: Parameters<typeof contextOf>[1]): Promise<ToolResult> => {
    const parsed = parseCall(tool, JSON.stringify(call.input));
    return parsed.ok ? calls.perform(tool, parsed.input, contextOf(call, how)) : parsed.result;
  };

  void app.register(swagger, toolsDocument);
  // Routes that stand here before it is there would not be in the document.
  void app.register((routed, _options, done) => {
    addRoutes(routed);
    done();
  });

  function addRoutes(routed: FastifyInstance): void {
    routed.get("/openapi.json", described("GET", "/openapi.json", toolsRoutes.document), () => app.swagger());
    routed.get("/health", described("GET", "/health", toolsRoutes.health), () => ({ status: "ok" }));
    routed.get("/api/tools/list", described("GET", "/api/tools/list", toolsRoutes.list), async () => {
      const { driver, grade } = await sandbox();
      return {
        success: true,
        answer: tools.map(({ name }) => name).join(", "),
        data: tools.map(listedTool),
        metadata: { version: toolsServerVersion, sandbox: { driver, grade } },
      };
    });

    routed.post("/api/tools/:name", described("POST", "/api/tools/:name", toolsRoutes.ask), async (request, reply) => {
      const tool = find(request);
      const began = performance.now();
      const body = read(jsonObjectSchema, request.body ?? {});
      const { input, session = sessionOf(request) } = readToolCall(body, tool);
      const call = callWithoutRun(input, { session, user: body["user"] });
      const context = { key: keyOf(request), signal: signalFor(reply), progress: () => {} };
      const result = await perform(tool, call, context);
      return toolAnswer(result, {
        tool: tool.name,
        session_id: session ?? null,
        status: "done",
        duration_ms: Math.round(performance.now() - began),
      });
    });

    routed.post(
      "/api/tools/:name/calls",
      described("POST", "/api/tools/:name/calls", toolsRoutes.call),
      async (request, reply) => {
        const tool = find(request);
        const call = read(servedCallSchema, request.body);
        const key = keyOf(request);
        const signal = signalFor(reply);
        const stream = streams.open(reply);
        const progress = (text: string) => {
          // Of much that nobody takes, some is left out.
          if (stream.drained() === undefined) stream.write(eventOf("progress", { text }));
        };
        const result = await perform(tool, call, { key, signal, progress }).catch((error: unknown) =>
          errorResult(messageOf(error)),
        );
        stream.end(eventOf("result", result));
      },
    );

    routed.get("/api/tools/calls/:key", described("GET", "/api/tools/calls/:key", toolsRoutes.outcome), (request) =>
      calls.outcome(read(z.object({ key: z.string() }), request.params).key),
    );
  }

  return {
    app,
    stop: (graceMs) => stopApp(app, { calls, streams, stopping }, graceMs),
  };
}

type StopDeps = {
  readonly calls: ReturnType<typeof createServedCalls>;
  readonly streams: ReturnType<typeof createSseStreams>;
  readonly stopping: AbortController;
};

async function stopApp(app: ToolsApp["app"], { calls, streams, stopping }: StopDeps, graceMs: number): Promise<void> {
  const closed = app.close();
  const timer = setTimeout(() => stopping.abort(new Error("The server of tools stops.")), graceMs);
  await calls.idle();
  clearTimeout(timer);
  streams.stop();
  // Answers are still on their way; a connection that has none left would be kept for more requests.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 20);
  const last = setTimeout(() => app.server.closeAllConnections(), lastAnswersMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(last);
}

/** For the document alone: handlers read what comes, and answer in their shape. */
function described(...route: Parameters<typeof schemaOf>[0]): RouteShorthandOptions {
  return {
    schema: schemaOf(route, maxBytes),
    ...bodyOptions(route[2], maxBytes),
    validatorCompiler: () => () => true,
    serializerCompiler: () => JSON.stringify,
  };
}

function read<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw invalidInput(parsed.error, "request");
  return parsed.data;
}

/** Compares hashes, so that the time it takes tells neither the token nor its length. */
function tokenCheck(token: string): (header: string | undefined) => boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  const expected = hash(`Bearer ${token}`);
  return (header = "") => timingSafeEqual(hash(header), expected);
}

function keyOf(request: FastifyRequest): string {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return newId();
  if (typeof key === "string" && keyPattern.test(key)) return key;
  throw new InvalidInput("Idempotency-Key must have 1 to 255 letters, without spaces.", { param: "Idempotency-Key" });
}

function sessionOf({ headers }: FastifyRequest): string | undefined {
  const session = headers["x-session-id"];
  return typeof session === "string" && session !== "" ? session : undefined;
}

function eventOf(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
