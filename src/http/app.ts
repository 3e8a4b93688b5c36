import cors from "@fastify/cors";
import helmet from "@fastify/helmet";
import swagger from "@fastify/swagger";
import fastify, { type FastifyInstance, LogController } from "fastify";
import { validatorCompiler } from "fastify-type-provider-zod";
import type { Caller } from "../protocol/callers.ts";
import { newId } from "../protocol/ids.ts";
import { type Authenticate, createAuthenticate } from "./auth.ts";
import { getAgentRun, runAgent } from "./dialects/agent-run/agent-run.ts";
import { listAgentTools } from "./dialects/agent-run/agent-tools.ts";
import { chat, resumeChat } from "./dialects/chat/chat.ts";
import { chatCompletions } from "./dialects/chat-completions/chat-completions.ts";
import { chatkit } from "./dialects/chatkit/chatkit.ts";
import { conversationItems } from "./dialects/chatkit/conversation.ts";
import { getModel, listModels } from "./dialects/models.ts";
import type { Route } from "./endpoint.ts";
import { answerError, answerUnknownRoute, pathOf } from "./errors.ts";
import { acceptJsonBodies } from "./json-body.ts";
import { docs, openApiDocument, openApiOptions, schemaOf } from "./openapi.ts";
import { checkLocalOrigin } from "./origins.ts";
import { fastifyLog } from "./request-log.ts";
import { cancelAnyRun, getAnyRun, listAllRuns, resolveWrite, retryRun } from "./routes/admin-runs.ts";
import { listAgents, listTools } from "./routes/agents.ts";
import { continueRun, decide, listGrants, listQuestions, listQuestionsOfRun, removeGrant } from "./routes/decisions.ts";
import { examine } from "./routes/doctor.ts";
import { followRun, followThread } from "./routes/events.ts";
import { health } from "./routes/health.ts";
import { home } from "./routes/home.ts";
import {
  describeMcpClient,
  finishSignIn,
  followSignInLink,
  listMcpServers,
  signInToMcpServer,
  signOutOfMcpServer,
} from "./routes/mcp-servers.ts";
import { bringResults } from "./routes/results.ts";
import { cancelRun, getRun, listRuns, startRun, steerRun } from "./routes/runs.ts";
import {
  createSchedule,
  deleteSchedule,
  getSchedule,
  listSchedules,
  runSchedule,
  updateSchedule,
} from "./routes/schedules.ts";
import { createThread, deleteThread, getThread, listItems, listThreads, renameThread } from "./routes/threads.ts";
import { callTool } from "./routes/tool-calls.ts";
import { addKey, addUser, changeUser, listKeys, listUsers, revokeKey } from "./routes/users.ts";
import { allMcpRoutes } from "./mcp/mcp-routes.ts";
import type { Services } from "./services.ts";
import { createSseStreams, type SseStreams } from "./sse.ts";

const routes: readonly Route[] = [
  ["GET", "/", home],
  ["GET", "/health", health],
  ["GET", "/openapi.json", openApiDocument],
  ["GET", "/docs", docs],

  ["POST", "/v1/chat/completions", chatCompletions],
  ["GET", "/v1/models", listModels],
  ["GET", "/v1/models/*", getModel],

  ["POST", "/agent/run", runAgent],
  ["GET", "/agent/run/:id", getAgentRun],
  ["GET", "/agent/tools", listAgentTools],

  ["POST", "/chat", chat],
  ["GET", "/chat/:id/stream", resumeChat],
  ["POST", "/chatkit", chatkit],
  ["GET", "/chatkit/:id/items", conversationItems],

  ["POST", "/api/threads", createThread],
  ["GET", "/api/threads", listThreads],
  ["GET", "/api/threads/:id", getThread],
  ["PATCH", "/api/threads/:id", renameThread],
  ["DELETE", "/api/threads/:id", deleteThread],
  ["GET", "/api/threads/:id/items", listItems],
  ["GET", "/api/threads/:id/events", followThread],
  ["POST", "/api/threads/:id/runs", startRun],

  ["GET", "/api/runs", listRuns],
  ["GET", "/api/runs/:id", getRun],
  ["POST", "/api/runs/:id/cancel", cancelRun],
  ["POST", "/api/runs/:id/continue", continueRun],
  ["POST", "/api/runs/:id/steer", steerRun],
  ["GET", "/api/runs/:id/events", followRun],
  ["GET", "/api/runs/:id/questions", listQuestionsOfRun],
  ["POST", "/api/runs/:id/decisions/:item", decide],
  ["POST", "/api/runs/:id/results", bringResults],
  ["GET", "/api/questions", listQuestions],
  ["GET", "/api/grants", listGrants],
  ["DELETE", "/api/grants/:id", removeGrant],

  ["POST", "/api/schedules", createSchedule],
  ["GET", "/api/schedules", listSchedules],
  ["GET", "/api/schedules/:id", getSchedule],
  ["PATCH", "/api/schedules/:id", updateSchedule],
  ["DELETE", "/api/schedules/:id", deleteSchedule],
  ["POST", "/api/schedules/:id/run", runSchedule],

  ["GET", "/api/agents", listAgents],
  ["GET", "/api/tools/list", listTools],
  ["POST", "/api/tools/:name/calls", callTool],

  ["GET", "/api/mcp/servers", listMcpServers],
  ["POST", "/api/mcp/servers/:name/sign-in", signInToMcpServer],
  ["DELETE", "/api/mcp/servers/:name/sign-in", signOutOfMcpServer],
  ["GET", "/api/mcp/sign-in", followSignInLink],
  ["GET", "/api/mcp/callback", finishSignIn],
  ["GET", "/api/mcp/client.json", describeMcpClient],

  ["GET", "/api/admin/users", listUsers],
  ["POST", "/api/admin/users", addUser],
  ["PATCH", "/api/admin/users/:id", changeUser],
  ["GET", "/api/admin/users/:id/keys", listKeys],
  ["POST", "/api/admin/users/:id/keys", addKey],
  ["DELETE", "/api/admin/keys/:id", revokeKey],
  ["GET", "/api/admin/doctor", examine],
  ["GET", "/api/admin/runs", listAllRuns],
  ["GET", "/api/admin/runs/:id", getAnyRun],
  ["POST", "/api/admin/runs/:id/cancel", cancelAnyRun],
  ["POST", "/api/admin/runs/:id/retry", retryRun],
  ["POST", "/api/admin/runs/:id/ledger/:step/:index", resolveWrite],
];

const megabytes = 1024 * 1024;

/** The HTTP server with all its routes; the caller listens and closes. */
export async function createApp(services: Services, more: readonly Route[] = []): Promise<FastifyInstance> {
  const { server, access, log, version } = services;
  const app = fastify({
    loggerInstance: fastifyLog(log),
    // one line of our own a request, below
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
    genReqId: (request) => requestIdOf(request.headers["x-request-id"]),
    bodyLimit: server.bodyLimit ?? 10 * megabytes,
    // to send it, not to answer it; Fastify would wait for ever
    requestTimeout: 300_000,
    forceCloseConnections: "idle",
    exposeHeadRoutes: false,
    frameworkErrors: answerError,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 512 },
  });
  const authenticate = createAuthenticate(access);
  const streams = createSseStreams({
    ...(server.recheckMs !== undefined && { recheckMs: server.recheckMs }),
    // in local mode nobody logs in
    ...(access.mode === "accounts" && { mayStay: async (request) => authenticate(request) }),
  });
  const rules = { corsOrigins: server.corsOrigins, hosts: server.hosts ?? [], port: () => portOf(app) };

  app.setErrorHandler(answerError);
  app.setNotFoundHandler(answerUnknownRoute);
  app.setValidatorCompiler(validatorCompiler);
  // schemas of answers are for the document; handlers answer in their shape
  app.setSerializerCompiler(() => JSON.stringify);
  acceptJsonBodies(app);
  app.decorateRequest("caller", undefined);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    if (access.mode === "local") checkLocalOrigin(request, rules);
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    const { method } = request;
    request.log.info(
      { method, path: pathOf(request), status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      "request",
    );
    done();
  });
  closeInTime(app, streams, server.graceMs ?? 10_000);

  await app.register(cors, {
    origin: [...server.corsOrigins],
    credentials: true,
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    exposedHeaders: [
      "x-request-id",
      "x-colloquy-run",
      "x-colloquy-thread",
      "x-colloquy-model",
      "x-colloquy-status",
      "x-colloquy-idempotency",
      "x-colloquy-conversation",
      "x-vercel-ai-ui-message-stream",
    ],
  });
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    // TLS is the business of the proxy that ends it
    strictTransportSecurity: false,
  });
  await app.register(swagger, openApiOptions(version));
  for (const route of [...routes, ...allMcpRoutes(), ...more])
    addRoute(app, route, { services, streams, authenticate });
  return app;
}

type Surroundings = { readonly services: Services; readonly streams: SseStreams; readonly authenticate: Authenticate };

function addRoute(
  app: FastifyInstance,
  [method, path, endpoint]: Route,
  { services, streams, authenticate }: Surroundings,
): void {
  app.route({
    method,
    url: path,
    schema: schemaOf(endpoint),
    ...(endpoint.decodesBody && { validatorCompiler: () => () => true }),
    // before the body is read
    onRequest: async (request) => {
      if (!endpoint.open?.(request)) request.setDecorator("caller", await authenticate(request));
    },
    preValidation: (request, _reply, done) => {
      if (path.endsWith("/*")) request.params = { id: (request.params as Record<string, string>)["*"] };
      done();
    },
    handler: (request, reply) =>
      endpoint.handle({
        params: request.params,
        query: request.query,
        body: request.body,
        caller: request.getDecorator<Caller>("caller"),
        request,
        reply,
        services,
        streams,
      }),
  });
}

/** Undefined while nobody listens. */
function portOf(app: FastifyInstance): number | undefined {
  const address = app.server.address();
  return typeof address === "object" ? address?.port : undefined;
}

/** A caller's own id for the request, if it is fit for logs and headers. */
function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === "string" && /^[\w.:-]{1,128}$/.test(given) ? given : newId();
}

/** At stop, streams of runs say farewell and other answers have a while to finish. */
function closeInTime(app: FastifyInstance, streams: SseStreams, graceMs: number): void {
  let timer: NodeJS.Timeout | undefined;
  app.addHook("preClose", (done) => {
    streams.stop();
    timer = setTimeout(() => app.server.closeAllConnections(), graceMs).unref();
    app.server.once("close", () => clearTimeout(timer));
    done();
  });
}
