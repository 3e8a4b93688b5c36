import cors from "@fastify/cors";
import helmet from "@fastify/helmet";
import swagger from "@fastify/swagger";
import fastify, { type FastifyInstance, type FastifyRequest, LogController } from "fastify";
import type { Caller } from "../protocol/base/callers.ts";
import { Unavailable } from "../protocol/base/errors.ts";
import { newId } from "../protocol/base/ids.ts";
import { createAuthenticate } from "./server/auth.ts";
import {
  type AuthenticatedRequest,
  announceKeyExpiry,
  createEntrance,
  type Entrance,
  servicesFor,
  authorize,
} from "./server/entry.ts";
import { auditRequest } from "./server/audit.ts";
import { bodyOptions, fewBounds, boundBodies, connectionBounds } from "./server/body-bounds.ts";
import { restName, type EndpointRoute } from "./server/endpoint.ts";
import { answerError, answerUnknownRoute, answerUnrouted } from "./server/errors.ts";
import { acceptFiles, acceptJsonBodies } from "./server/json-body.ts";
import { openApiOptions, schemaOf } from "./server/openapi.ts";
import { checkLocalOrigin, originsAt, pathOf, placeDecorator, portsOf, withoutBase } from "./server/origins.ts";
import { fastifyLog } from "./server/request-log.ts";
import type { Services } from "./server/services.ts";
import { stopInTime } from "./server/stop.ts";
import { validatorCompiler } from "./server/validate.ts";
import { createSseStreams, type SseStreams } from "./stream/sse.ts";
import { answerUnknownPage } from "./routes/page/page.ts";
import { allRoutes } from "./all-routes.ts";

/** From here on a request is told in any case. */
const slowMs = 3000;

/** The HTTP server with all its routes; the caller listens and closes. */
export async function createApp(services: Services, more: readonly EndpointRoute[] = []): Promise<FastifyInstance> {
  const { server, access, log, version } = services;
  const app = fastify({
    loggerInstance: fastifyLog(log),
    // one line of our own a request, below
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
    genReqId: (request) => requestIdOf(request.headers["x-request-id"]),
    bodyLimit: fewBounds.bytes,
    ...connectionBounds(server.bodyMs),
    // The stop has a time of its own, which is longer than what Fastify gives each part of it.
    pluginTimeout: 0,
    exposeHeadRoutes: false,
    // said by us, in each dialect's form
    return503OnClosing: false,
    frameworkErrors: answerUnrouted,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 512 },
    trustProxy: server.trustProxy?.length ? [...server.trustProxy] : false,
    rewriteUrl: ({ url = "/" }) => withoutBase(url, server.basePath),
  });
  app.decorate(placeDecorator, { publicUrl: server.publicUrl, basePath: server.basePath });
  const authenticate = createAuthenticate(access, server);
  const entrance = createEntrance(authenticate, server);
  const streams = createSseStreams({
    ...(server.recheckMs !== undefined && { recheckMs: server.recheckMs }),
    ...(server.streamsPerUser !== undefined && { perUser: server.streamsPerUser }),
    mayStay: async (request) => authenticate(request),
  });
  const rules = {
    originsAt: originsAt(server),
    hosts: server.hosts ?? [],
    ports: () => portsOf(app, server.ollamaPort),
  };

  app.setErrorHandler(answerError);
  app.setNotFoundHandler(
    (request, reply) => answerUnknownPage({ request, reply }, services) ?? answerUnknownRoute(request),
  );
  app.setValidatorCompiler(validatorCompiler);
  // schemas of answers are for the document; handlers answer in their shape
  app.setSerializerCompiler(() => JSON.stringify);
  acceptJsonBodies(app);
  boundBodies(app, server.bodyMs);
  app.decorateRequest("entry", undefined);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    if (access.mode === "local") checkLocalOrigin(request, rules);
    done();
  });
  app.addHook("onRequest", (request, reply, done) => {
    // Also of a client that went away before the answer: what it asked for may be done.
    reply.raw.once("close", () => {
      const caller = request.getDecorator<AuthenticatedRequest | undefined>("entry")?.caller;
      auditRequest(services.overview.audit, { request, reply, caller });
    });
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    const { method } = request;
    const [status, ms] = [reply.statusCode, Math.round(reply.elapsedTime)];
    // An event stream is as long as what it tells of.
    const isSlow =
      ms >= slowMs && !/^(text\/event-stream|application\/x-ndjson)/.test(String(reply.getHeader("content-type")));
    const level = server.quiet && status < 400 && !isSlow ? "debug" : "info";
    log[level]({ requestId: request.id, method, path: loggedPath(request), status, ms }, "request");
    done();
  });
  stopInTime(app, streams, (isAnswering) => services.drain(server.graceMs ?? 10_000, isAnswering));

  const crossOrigin = {
    credentials: true,
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    exposedHeaders: [
      "x-request-id",
      "retry-after",
      "ratelimit-limit",
      "ratelimit-remaining",
      "ratelimit-reset",
      "deprecation",
      "sunset",
      "x-colloquy-warning",
      "x-colloquy-run",
      "x-colloquy-thread",
      "x-colloquy-model",
      "x-colloquy-unseen-pictures",
      "x-colloquy-left-out",
      "x-colloquy-status",
      "x-colloquy-idempotency",
      "x-colloquy-conversation",
      "x-colloquy-whole",
      "x-vercel-ai-ui-message-stream",
    ],
  };
  await app.register(cors, {
    delegator: ({ url }, done) => done(null, { ...crossOrigin, origin: [...rules.originsAt(url ?? "")] }),
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

type AppDeps = { readonly services: Services; readonly streams: SseStreams; readonly entrance: Entrance };

function addRoute(
  app: FastifyInstance,
  [method, path, endpoint]: EndpointRoute,
  { services, streams, entrance }: AppDeps,
): void {
  const { takesBody } = endpoint;
  const addTo = (to: FastifyInstance) =>
    to.route({
      method,
      url: path,
      exposeHeadRoute: endpoint.takesHead ?? false,
      schema: schemaOf([method, path, endpoint], services.server.bodyLimit),
      ...bodyOptions(endpoint, services.server.bodyLimit),
      ...(endpoint.decodesBody && { validatorCompiler: () => () => true }),
      // before the body is read
      onRequest: async (request, reply) => {
        const unready = endpoint.standsAlone ? undefined : services.unready();
        // At once, instead of a wait for a database that does not answer.
        if (unready) throw new Unavailable(unready.message, { code: unready.code, retryAfterSeconds: 5 });
        const entry = await entrance(request, reply, endpoint.open?.(request) ?? false);
        if (entry) announceKeyExpiry(reply, entry);
        request.setDecorator("entry", entry && { ...entry, caller: authorize(entry.caller, endpoint.needs) });
        endpoint.admit?.(request, services);
      },
      preValidation: (request, _reply, done) => {
        if (path.endsWith("/*")) {
          const { "*": rest, ...named } = request.params as Record<string, string>;
          request.params = { ...named, [restName(path)]: rest };
        }
        done();
      },
      handler: (request, reply) => {
        const entry = request.getDecorator<AuthenticatedRequest | undefined>("entry");
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

/** Who has a link may read what it leads to, so a log must not have it, however it was asked for. */
function loggedPath(request: FastifyRequest): string {
  const path = pathOf(request);
  const [, shared] = /^(\/+(?:api\/+)?shared\/)./.exec(decoded(path)) ?? [];
  return shared === undefined ? path : `${shared}…`;
}

function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** A caller's own id for the request, if it is fit for logs and headers. */
function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === "string" && /^[\w.:-]{1,128}$/.test(given) ? given : newId();
}
