import { createServer } from "node:http";
import { json } from "node:stream/consumers";

/**
 * The one face of every peer. `accept(id, message)` resolves once the run is kept; `look(id)` says what it is, undefined if there
 * is none; `stream(id, after)` yields `{ cursor, text }`, `{ cursor, reset: true }` and `{ end: true }`.
 */
export function serve({ accept, look, stream }) {
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://peer");
    const answer = (status, body) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    try {
      const [, , id, rest] = pathname.split("/");
      if (pathname === "/health") answer(200, { streams: stream !== undefined });
      else if (request.method === "POST") {
        const run = await json(request);
        await accept(run.id, run.message);
        answer(202, { id: run.id });
      } else if (rest === "stream") {
        response.writeHead(200, { "content-type": "application/x-ndjson" });
        for await (const line of stream(id, Number(searchParams.get("after") ?? 0))) {
          if (response.destroyed) return;
          response.write(`${JSON.stringify(line)}\n`);
        }
        response.end();
      } else {
        const seen = await look(id);
        answer(seen ? 200 : 404, seen ?? {});
      }
    } catch (error) {
      console.error(error);
      if (response.headersSent) response.destroy();
      else answer(500, { error: String(error) });
    }
  });
  server.listen(Number(process.env.PORT), "127.0.0.1");
}

// A peer that throws somewhere in the dark goes on, as it would under the process managers that its documentation names.
process.on("unhandledRejection", (error) => console.error("unhandled", error));
process.on("uncaughtException", (error) => console.error("uncaught", error));
