import type { ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import type { SseStreams } from "../stream/sse.ts";

/** Time for the last responses to be sent at the end of a stop. */
const lastWordsMs = 1000;

/**
 * Until `drain` is over the port stays open, so that probes hear that this node stops, and others that they must ask elsewhere.
 * Then whoever still follows something is told so, and all connections end as soon as nobody is answered on them.
 */
export function stopInTime(
  app: FastifyInstance,
  streams: SseStreams,
  drain: (isAnswering: () => boolean) => Promise<void>,
): void {
  const answering = new Set<ServerResponse>();
  app.server.on("request", (_request, response) => {
    answering.add(response);
    response.once("close", () => answering.delete(response));
  });
  app.addHook("preClose", async () => {
    await drain(() => [...answering].some((response) => !streams.mayEnd(response)));
    streams.stop();
    const end = performance.now() + lastWordsMs;
    // Also those that no request has come on, which Node.js does not call idle: browsers and balancers open some in advance.
    const sweep = setInterval(() => {
      if (answering.size === 0 || performance.now() > end) app.server.closeAllConnections();
    }, 10).unref();
    app.server.once("close", () => clearInterval(sweep));
  });
}
