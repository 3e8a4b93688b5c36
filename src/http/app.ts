import cors from "@fastify/cors";
import helmet from "@fastify/helmet";
import swagger from "@fastify/swagger";
import fastify, { type FastifyInstance, type FastifyRequest, LogController } from "fastify";
import { validatorCompiler } from "fastify-type-provider-zod";
import type { Caller } from "../protocol/callers.ts";
import { newId } from "../protocol/ids.ts";
import { accountRoutes } from "./account-routes.ts";
import { createAuthenticate, type Entry } from "./auth.ts";
import { auditRequest } from "./audit.ts";
import { getAgentRun, runAgent } from "./dialects/agent-run/agent-run.ts";
import { listAgentTools } from "./dialects/agent-run/agent-tools.ts";
import { chat, resumeChat } from "./dialects/chat/chat.ts";
import { chatCompletions } from "./dialects/chat-completions/chat-completions.ts";
import { chatkit } from "./dialects/chatkit/chatkit.ts";
import { conversationItems } from "./dialects/chatkit/conversation.ts";
import { createFile, deleteFile, getFile, getFileContent, listFiles } from "./dialects/files.ts";
import { getModel, listModels } from "./dialects/models.ts";
import { askTool, listTools } from "./dialects/tools-api.ts";
import {
  changeSession,
  createSession,
  deleteSession,
  findHistory,
  getHistory,
  listSessions,
} from "./dialects/sessions.ts";
import { restName, type Route } from "./endpoint.ts";
import { createEntrance, type Entrance, servicesFor } from "./entrance.ts";
import { answerError, answerUnknownRoute, pathOf } from "./errors.ts";
import { acceptFiles, acceptJsonBodies } from "./json-body.ts";
import { docs, openApiDocument, openApiOptions, schemaOf } from "./openapi.ts";
import { checkLocalOrigin, placeDecorator, withoutBase } from "./origins.ts";
import { fastifyLog } from "./request-log.ts";
import { allUsage, listAudit, listSettings, modelsWithHealth, ownUsage } from "./routes/admin-overview.ts";
import { cancelAnyRun, getAnyRun, listAllRuns, resolveWrite, retryRun } from "./routes/admin-runs.ts";
import { listAgents } from "./routes/agents.ts";
import { exportThread, forkThread, listBranch } from "./routes/branches.ts";
import { continueRun, decide, listGrants, listQuestions, listQuestionsOfRun, removeGrant } from "./routes/decisions.ts";
import { examine } from "./routes/doctor.ts";
import { followRun, followThread } from "./routes/events.ts";
import { sessionFiles, threadFiles } from "./routes/files.ts";
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
import { relayCompletion, relayModels } from "./routes/model-relay.ts";
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
import { listShares, readShared, shareThread, withdrawShare } from "./routes/shares.ts";
import { changeThread, createThread, deleteThread, getThread, listItems, listThreads } from "./routes/threads.ts";
import { callTool } from "./routes/tool-calls.ts";
import {
  beginUpload,
  continueUpload,
  deleteUpload,
  downloadUpload,
  getUpload,
  listUploads,
  putUpload,
  uploadFiles,
} from "./routes/uploads.ts";
import { allMcpRoutes } from "./mcp/mcp-routes.ts";
import type { Services } from "./services.ts";
import { createSseStreams, type SseStreams } from "./sse.ts";

const routes: readonly Route[] = [
  ["GET", "/", home],
  ["GET", "/health", health],
  ["GET", "/openapi.json", openApiDocument],
  ["GET", "/docs", docs],

  ["POST", "/v1/chat/completions", chatCompletions],
  ["POST", "/v1/files", createFile],
  ["GET", "/v1/files", listFiles],
  ["GET", "/v1/files/:id", getFile],
  ["GET", "/v1/files/:id/content", getFileContent],
  ["DELETE", "/v1/files/:id", deleteFile],
  ["GET", "/v1/models", listModels],
  ["GET", "/v1/models/*", getModel],

  ["POST", "/agent/run", runAgent],
  ["GET", "/agent/run/:id", getAgentRun],
  ["GET", "/agent/tools", listAgentTools],

  ["POST", "/chat", chat],
  ["GET", "/chat/:id/stream", resumeChat],
  ["GET", "/api/chat/sessions", listSessions],
  ["POST", "/api/chat/sessions", createSession],
  ["PATCH", "/api/chat/sessions/:id", changeSession],
  ["DELETE", "/api/chat/sessions/:id", deleteSession],
  ["GET", "/api/chat/history", findHistory],
  ["GET", "/api/chat/history/:id", getHistory],
  ["POST", "/chatkit", chatkit],
  ["GET", "/chatkit/:id/items", conversationItems],

  ["POST", "/api/threads", createThread],
  ["GET", "/api/threads", listThreads],
  ["GET", "/api/threads/:id", getThread],
  ["PATCH", "/api/threads/:id", changeThread],
  ["DELETE", "/api/threads/:id", deleteThread],
  ["GET", "/api/threads/:id/items", listItems],
  ["GET", "/api/threads/:id/events", followThread],
  ["POST", "/api/threads/:id/runs", startRun],

  ["GET", "/api/threads/:id/files", threadFiles.list],
  ["POST", "/api/threads/:id/files", threadFiles.uploadForm],
  ["GET", "/api/threads/:id/files/*", threadFiles.download],
  ["PUT", "/api/threads/:id/files/*", threadFiles.upload],
  ["DELETE", "/api/threads/:id/files/*", threadFiles.remove],
  ["POST", "/api/uploads", uploadFiles],
  ["GET", "/api/uploads", listUploads],
  ["POST", "/api/uploads/begin", beginUpload],
  ["PATCH", "/api/uploads/:id", continueUpload],
  ["GET", "/api/uploads/:id", getUpload],
  ["PUT", "/api/uploads/:id/content", putUpload],
  ["GET", "/api/uploads/:id/content", downloadUpload],
  ["DELETE", "/api/uploads/:id", deleteUpload],
  ["GET", "/api/files", sessionFiles.list],
  ["POST", "/api/files", sessionFiles.uploadForm],
  ["GET", "/api/files/*", sessionFiles.download],
  ["PUT", "/api/files/*", sessionFiles.upload],
  ["DELETE", "/api/files/*", sessionFiles.remove],
  ["GET", "/api/threads/:id/branch", listBranch],
  ["POST", "/api/threads/:id/fork", forkThread],
  ["GET", "/api/threads/:id/export", exportThread],
  ["POST", "/api/threads/:id/shares", shareThread],
  ["GET", "/api/threads/:id/shares", listShares],
  ["DELETE", "/api/shares/:id", withdrawShare],
  ["GET", "/api/shared/:id", readShared],

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
  ["POST", "/api/tools/:name", askTool],
  ["POST", "/api/tools/:name/calls", callTool],
  ["POST", "/api/model-relay/v1/chat/completions", relayCompletion],
  ["GET", "/api/model-relay/v1/models", relayModels],

  ["GET", "/api/mcp/servers", listMcpServers],
  ["POST", "/api/mcp/servers/:name/sign-in", signInToMcpServer],
  ["DELETE", "/api/mcp/servers/:name/sign-in", signOutOfMcpServer],
  ["GET", "/api/mcp/sign-in", followSignInLink],
  ["GET", "/api/mcp/callback", finishSignIn],
  ["GET", "/api/mcp/client.json", describeMcpClient],

  ["GET", "/api/usage", ownUsage],
  ["GET", "/api/admin/usage", allUsage],
  ["GET", "/api/admin/models", modelsWithHealth],
  ["GET", "/api/admin/settings", listSettings],
  ["GET", "/api/admin/audit", listAudit],
  ["GET", "/api/admin/doctor", examine],
  ["GET", "/api/admin/runs", listAllRuns],
  ["GET", "/api/admin/runs/:id", getAnyRun],
  ["POST", "/api/admin/runs/:id/cancel", cancelAnyRun],
  ["POST", "/api/admin/runs/:id/retry", retryRun],
  ["POST", "/api/admin/runs/:id/ledger/:step/:index", resolveWrite],
];

/** Every route of the server. */
export const allRoutes: readonly Route[] = [...routes, ...accountRoutes, ...allMcpRoutes()];

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
    trustProxy: server.trustProxy?.length ? [...server.trustProxy] : false,
    rewriteUrl: ({ url = "/" }) => withoutBase(url, server.basePath),
  });
  app.decorate(placeDecorator, { publicUrl: server.publicUrl, basePath: server.basePath });
  const authenticate = createAuthenticate(access, server.corsOrigins);
  const entrance = createEntrance(authenticate, server);
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
  app.decorateRequest("entry", undefined);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    if (access.mode === "local") checkLocalOrigin(request, rules);
    done();
  });
  app.addHook("onRequest", (request, reply, done) => {
    // Also of a client that went away before the answer: what it asked for may be done.
    reply.raw.once("close", () => {
      const caller = request.getDecorator<Entry | undefined>("entry")?.caller;
      auditRequest(services.overview.audit, { request, reply, caller });
    });
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    const { method } = request;
    request.log.info(
      { method, path: loggedPath(request), status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
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
      "retry-after",
      "ratelimit-limit",
      "ratelimit-remaining",
      "ratelimit-reset",
      "x-colloquy-run",
      "x-colloquy-thread",
      "x-colloquy-model",
      "x-colloquy-status",
      "x-colloquy-idempotency",
      "x-colloquy-conversation",
      "x-colloquy-whole",
      "x-vercel-ai-ui-message-stream",
    ],
  });
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    // TLS is the business of the proxy that ends it
    strictTransportSecurity: false,
  });
  await app.register(swagger, openApiOptions(version, server.basePath));
  for (const route of [...allRoutes, ...more]) addRoute(app, route, { services, streams, entrance });
  return app;
}

type Surroundings = { readonly services: Services; readonly streams: SseStreams; readonly entrance: Entrance };

function addRoute(
  app: FastifyInstance,
  [method, path, endpoint]: Route,
  { services, streams, entrance }: Surroundings,
): void {
  const { takesBody } = endpoint;
  const addTo = (to: FastifyInstance) =>
    to.route({
      method,
      url: path,
      schema: schemaOf(endpoint),
      config: { takesForm: endpoint.takesForm ?? false },
      ...(endpoint.decodesBody && { validatorCompiler: () => () => true }),
      // before the body is read
      onRequest: async (request, reply) => {
        request.setDecorator("entry", await entrance(request, reply, endpoint.open?.(request) ?? false));
      },
      preValidation: (request, _reply, done) => {
        if (path.endsWith("/*")) {
          const { "*": rest, ...named } = request.params as Record<string, string>;
          request.params = { ...named, [restName(path)]: rest };
        }
        done();
      },
      handler: (request, reply) => {
        const entry = request.getDecorator<Entry | undefined>("entry");
        return endpoint.handle({
          params: request.params,
          query: request.query,
          body: request.body,
          // Open routes say that they have none.
          caller: entry?.caller as Caller,
          sessionId: entry?.sessionId,
          request,
          reply,
          services: entry ? servicesFor(services, entry.caller) : services,
          streams,
        });
      },
    });
  if (!takesBody) addTo(app);
  else
    void app.register((apart, _options, done) => {
      acceptFiles(apart, takesBody);
      addTo(apart);
      done();
    });
}

/** Who has a link may read what it leads to, so a log must not have it. */
function loggedPath(request: FastifyRequest): string {
  return request.routeOptions.url === "/api/shared/:id" ? "/api/shared/…" : pathOf(request);
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
