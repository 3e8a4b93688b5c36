import fastify, { type FastifyInstance, LogController } from "fastify";
import type { Caller } from "../../protocol/base/callers.ts";
import type { Log } from "../../protocol/base/log.ts";
import { createAuthenticate } from "../server/auth.ts";
import { bodyOptions, fewBounds, boundBodies, connectionBounds } from "../server/body-bounds.ts";
import { answerError, answerUnknownRoute, answerUnrouted } from "../server/errors.ts";
import { acceptJsonBodies } from "../server/json-body.ts";
import { checkLocalOrigin, portsOf } from "../server/origins.ts";
import { fastifyLog } from "../server/request-log.ts";
import type { Access, ServerSettings } from "../server/services.ts";
import { createSseStreams } from "../stream/sse.ts";
import { createCancellations } from "./cancellations.ts";
import { mcpBody, serveMcp } from "./mcp-endpoint.ts";
import type { TaskCalls } from "../../tools/basic/task-calls.ts";
import { todoSurface } from "./todo-features.ts";

export type TodoAppOptions = {
  readonly tasks: TaskCalls;
  /** `local`: whoever reaches it works on the owner's tasks. */
  readonly access: Access;
  readonly server: ServerSettings;
  readonly log: Log;
  readonly version: string;
};

const maxBytes = 4 * 1024 * 1024;

/** The task tools alone, as an MCP server at `/mcp`; the caller listens and closes. */
export function createTodoApp({ tasks, access, server, log, version }: TodoAppOptions): FastifyInstance {
  const app = fastify({
    loggerInstance: fastifyLog(log),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
    bodyLimit: fewBounds.bytes,
    ...connectionBounds(),
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    frameworkErrors: answerUnrouted,
    routerOptions: { ignoreTrailingSlash: true },
  });
  const authenticate = createAuthenticate(access, server);
  const streams = createSseStreams();
  const cancels = createCancellations();
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(answerUnknownRoute);
  acceptJsonBodies(app);
  boundBodies(app);
  app.addHook("onRequest", (request, _reply, done) => {
    if (access.mode === "local")
      checkLocalOrigin(request, {
        originsAt: () => server.corsOrigins,
        hosts: server.hosts ?? [],
        ports: () => portsOf(app),
      });
    done();
  });
  app.decorateRequest("caller", undefined);
  app.addHook("preClose", (done) => {
    streams.stop();
    done();
  });
  app.get("/health", () => ({ status: "ok" }));
  app.route({
    method: ["GET", "POST", "DELETE"],
    url: "/mcp",
    ...bodyOptions(mcpBody, maxBytes),
    // before the body is read
    onRequest: async (request) => request.setDecorator("caller", (await authenticate(request)).caller),
    handler: (request, reply) => {
      const caller = request.getDecorator<Caller>("caller");
      return serveMcp(
        { request, reply, caller, streams, services: { server } },
        { surface: () => todoSurface(tasks, caller, { version, namesLists: access.mode === "local" }), cancels },
      );
    },
  });
  return app;
}
