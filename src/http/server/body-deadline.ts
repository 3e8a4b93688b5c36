import type { ServerOptions } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ColloquyError } from "../../protocol/base/errors.ts";

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
