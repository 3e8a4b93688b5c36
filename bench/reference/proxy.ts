import { Agent, createServer, request as sendRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { cpuMilliseconds, serveCommands } from "../child.ts";
import { sseEvents } from "./sse-events.ts";

/**
 * The limit of a pass-through: bare node:http that parses every event of the upstream and sends every event again. How it
 * sends them, the second argument says (part.ts); `bytes` hands on what it reads, for the scale.
 */
const [, , upstream = "", kind = "events"] = process.argv;
const agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: 1024 });

type Chunk = { readonly choices: readonly { delta?: { content?: unknown } }[] };

function relayOf(response: ServerResponse): (bytes: Buffer) => void {
  let read = "";
  let held: Chunk | undefined;
  const send = (value: unknown) => {
    const event = `data: ${JSON.stringify(value)}\n\n`;
    if (kind === "events") response.write(event);
    else read += event;
  };
  const flush = () => {
    if (held) send(held);
    held = undefined;
  };
  const push = sseEvents((data) => {
    if (data === "[DONE]") {
      flush();
      if (kind === "events") response.write("data: [DONE]\n\n");
      else read += "data: [DONE]\n\n";
      return;
    }
    const chunk = JSON.parse(data) as Chunk;
    if (kind !== "merged") return send(chunk);
    const text = chunk.choices[0]?.delta?.content;
    const before = held?.choices[0]?.delta;
    if (before && typeof text === "string") return void (before.content = String(before.content) + text);
    flush();
    if (typeof text === "string" && text !== "") held = chunk;
    else send(chunk);
  });
  return (bytes) => {
    push(bytes);
    flush();
    if (read !== "") response.write(read);
    read = "";
  };
}

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
      answer.on("data", kind === "bytes" ? (bytes: Buffer) => response.write(bytes) : relayOf(response));
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
