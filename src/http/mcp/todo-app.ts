import fastify, { type FastifyInstance, LogController } from "fastify";
import type { Log } from "../../protocol/log.ts";
import { createAuthenticate } from "../auth.ts";
import { answerError, answerUnknownRoute } from "../errors.ts";
import { acceptJsonBodies } from "../json-body.ts";
import { checkLocalOrigin } from "../origins.ts";
import { fastifyLog } from "../request-log.ts";
import type { Access, ServerSettings } from "../services.ts";
import { createSseStreams } from "../sse.ts";
import { createCancels } from "./cancels.ts";
import { serveMcp } from "./mcp-endpoint.ts";
import type { TaskCalls } from "./task-calls.ts";
import { todoSurface } from "./todo-surface.ts";

export type TodoAppOptions = {
  readonly tasks: TaskCalls;
  /** `local`: whoever reaches it works on the owner's tasks. */
  readonly access: Access;
  readonly server: ServerSettings;
  readonly log: Log;
  readonly version: string;
};

const megabytes = 1024 * 1024;

/** The task tools alone, as an MCP server at `/mcp`; the caller listens and closes. */
export function createTodoApp({ tasks, access, server, log, version }: TodoAppOptions): FastifyInstance {
  const app = fastify({
    loggerInstance: fastifyLog(log),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
    bodyLimit: 4 * megabytes,
    requestTimeout: 300_000,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    frameworkErrors: answerError,
    routerOptions: { ignoreTrailingSlash: true },
  });
  const authenticate = createAuthenticate(access);
  const streams = createSseStreams();
  const cancels = createCancels();
  const port = () => {
    const address = app.server.address();
    return typeof address === "object" ? address?.port : undefined;
  };
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(answerUnknownRoute);
  acceptJsonBodies(app);
  app.addHook("onRequest", (request, _reply, done) => {
    if (access.mode === "local")
      checkLocalOrigin(request, { corsOrigins: server.corsOrigins, hosts: server.hosts ?? [], port });
    done();
  });
  app.addHook("preClose", (done) => {
    streams.stop();
    done();
  });
  app.get("/health", () => ({ status: "ok" }));
  app.route({
    method: ["GET", "POST", "DELETE"],
    url: "/mcp",
    handler: async (request, reply) => {
      const { caller } = await authenticate(request);
      return serveMcp(
        { request, reply, caller, streams, services: { server } },
        { surface: () => todoSurface(tasks, caller, version), cancels },
      );
    },
  });
  return app;
}
