import type { RouteOptions, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type JsonBounds, longChatJsonBounds, defaultJsonBounds } from "../../protocol/base/json-bounds.ts";
import type { Endpoint } from "./endpoint.ts";
import type { ServerOptions } from "node:http";
import { ColloquyError } from "../../protocol/base/errors.ts";

type EndpointInput = Pick<
  Endpoint,
  "body" | "open" | "admit" | "takesLong" | "takesForm" | "keepsNumbers" | "takesBody"
>;

/** Bounds of one route's body, checked before it is parsed. */
export type BodyBounds = JsonBounds & { readonly bytes: number };

const kilobytes = 1024;
const megabytes = 1024 * kilobytes;

/** Bytes accepted without a login, and for routes that take no body. */
const fewBytes = 16 * kilobytes;
/** More than any definition, and than a hundred pages of text. */
const usualBytes = megabytes;
/** Where the configuration says nothing: room for pictures. */
const maxBytes = 10 * megabytes;

/** `configured`: what the route that takes most may take. */
export function boundsOf(endpoint: EndpointInput, configured = maxBytes): BodyBounds {
  const { body, open, admit, takesLong = false, keepsNumbers = false } = endpoint;
  // Whose numbers are kept costs several times as much for each of them.
  const json = takesLong && !keepsNumbers ? longChatJsonBounds : defaultJsonBounds;
  const isUnproven = open !== undefined && admit === undefined;
  const bytes = body === undefined || isUnproven ? fewBytes : takesLong ? configured : usualBytes;
  return { ...json, bytes: Math.min(bytes, configured) };
}

/** Where a route has none, as the answer to an unknown path. */
export const fewBounds: BodyBounds = { ...defaultJsonBounds, bytes: fewBytes };

/** Fastify's `config` of a route, for body parsers. */
export type RouteConfig = {
  readonly bounds?: BodyBounds;
  readonly takesForm?: boolean;
  readonly keepsNumbers?: boolean;
  readonly takesFile?: boolean;
};

export function configOf({ routeOptions }: { readonly routeOptions: { readonly config?: unknown } }): RouteConfig {
  return (routeOptions.config ?? {}) as RouteConfig;
}

/** Fastify options for an endpoint's body, used by all our servers. */
export function bodyOptions(endpoint: EndpointInput, configured?: number): Pick<RouteOptions, "bodyLimit" | "config"> {
  const bounds = boundsOf(endpoint, configured);
  const { takesForm = false, keepsNumbers = false, takesBody } = endpoint;
  const config: RouteConfig = { bounds, takesForm, keepsNumbers, takesFile: takesBody !== undefined };
  return { bodyLimit: bounds.bytes, config: config as NonNullable<RouteOptions["config"]> };
}

/** For the headers of a request, and again for its body. */
const defaultBodyMs = 30_000;
/** A file may take hours, but it moves: this is less than any line that people have. */
const leastBytesPerSecond = 1024;

/** How long Node.js waits for headers. Bodies are bounded by `boundBodies`: its own bound would cut off large files too. */
export function connectionBounds(bodyMs = defaultBodyMs): {
  readonly requestTimeout: number;
  readonly http: ServerOptions;
} {
  return {
    requestTimeout: 0,
    http: { headersTimeout: bodyMs, requestTimeout: 0, connectionsCheckingInterval: Math.min(bodyMs, 5000) },
  };
}

/**
 * Ends requests whose body does not arrive within `bodyMs`: 408, and the connection is closed. The body of a route with
 * `config.takesFile` may take any time as long as it brings a kilobyte a second, measured over each `bodyMs`. Answers are not
 * bounded, nor is the time in which nobody here reads what has come.
 */
export function boundBodies(app: FastifyInstance, bodyMs = defaultBodyMs): void {
  app.addHook("onRequest", (request, reply, done) => {
    if (hasBody(request)) watchBody(request, reply, bodyMs);
    done();
  });
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function watchBody(request: FastifyRequest, reply: FastifyReply, bodyMs: number): void {
  const { raw } = request;
  const { takesFile = false } = request.routeOptions.config as { readonly takesFile?: boolean };
  let read = raw.socket.bytesRead;
  let isRefused = false;
  const check = () => {
    if (raw.complete || raw.destroyed) return clearInterval(timer);
    // Whoever asked for this request to be refused has had its time to say so.
    if (isRefused) return void raw.socket.destroy();
    const came = raw.socket.bytesRead - read;
    read += came;
    if (raw.readableLength > 0 || (takesFile && came >= (leastBytesPerSecond * bodyMs) / 1000)) return;
    isRefused = true;
    refuse(request, reply, tooSlow(bodyMs, takesFile));
  };
  // When this process stood still, what arrived meanwhile is read first.
  const timer = setInterval(() => setImmediate(check), bodyMs).unref();
  raw.once("close", () => clearInterval(timer));
}

function refuse({ raw }: FastifyRequest, reply: FastifyReply, error: ColloquyError): void {
  if (reply.sent || reply.raw.headersSent) return void raw.socket.destroy();
  reply.header("connection", "close");
  // Whoever reads the body fails with this error, cleans up and answers; destroying it would end the connection before that.
  if (raw.listenerCount("error") > 0) raw.emit("error", error);
  else void reply.send(error);
}

function tooSlow(bodyMs: number, takesFile: boolean): ColloquyError {
  const seconds = bodyMs / 1000;
  return new ColloquyError(
    "body_too_slow",
    408,
    takesFile
      ? `Less than ${leastBytesPerSecond} bytes a second of the body arrived for ${seconds} s. Send it again.`
      : `The body did not arrive within ${seconds} s. Send it again.`,
  );
}
