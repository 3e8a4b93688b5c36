import { Agent, createServer, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { cpuMilliseconds, serveCommands } from "../child.ts";
import { sseEvents } from "./sse-events.ts";

/** The limit of a pass-through: bare node:http that parses every event of the upstream and sends every event again. */
const upstream = process.argv[2] ?? "";
const agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: 1024 });

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const body = Buffer.from(JSON.stringify(JSON.parse(Buffer.concat(parts).toString())));
    const headers = {
      "content-type": "application/json",
      authorization: "Bearer bench",
      "content-length": body.length,
    };
    const call = sendRequest(upstream + "/chat/completions", { method: "POST", agent, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, {
        "content-type": "text/event-stream",
        "cache-control": "no-cache",
      });
      const push = sseEvents((data) => {
        response.write(data === "[DONE]" ? "data: [DONE]\n\n" : `data: ${JSON.stringify(JSON.parse(data))}\n\n`);
      });
      answer.on("data", push);
      answer.on("end", () => response.end());
    });
    call.on("error", (error) => response.destroy(error));
    call.end(body);
  });
});
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1");

serveCommands({
  port: () => (server.address() as AddressInfo).port,
  usage: () => ({ cpuMs: cpuMilliseconds(), rssBytes: process.memoryUsage.rss() }),
});
