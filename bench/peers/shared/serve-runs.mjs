import { createServer } from "node:http";

/**
 * `POST /runs` with `{ model, content }`: answers with one event for each piece of text, as `run` hands it to `say`. The least
 * that is right, so that what stands behind it is measured.
 */
export function serveRuns(run) {
  const server = createServer((request, response) => {
    if (request.method !== "POST") return response.end("ok");
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", async () => {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
      const say = (text) => response.write(`data: ${JSON.stringify({ text })}\n\n`);
      try {
        await run(JSON.parse(Buffer.concat(parts).toString()), say);
        response.end("data: [DONE]\n\n");
      } catch (error) {
        console.error(error);
        response.destroy();
      }
    });
  });
  server.keepAliveTimeout = 600_000;
  server.listen(Number(process.env.PORT), "127.0.0.1");
}
