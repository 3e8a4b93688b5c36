import { Agent, createServer, request as sendRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { cpuMilliseconds, serveCommands } from "../child.ts";
import { sseEvents } from "./sse-events.ts";

/**
 * The limit of a pass-through: bare node:http that parses every event of the upstream and sends every event again. How it
 * sends them, the second argument says (part.ts); `bytes` hands on what it reads, for the scale.
 */
const [, , upstream = "", kind = "events"] = process.argv;
const merging = /^merged(?:-(\d+))?$/.exec(kind);
const holdMs = Number(merging?.[1] ?? 0);
const agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: 1024 });

type Chunk = { readonly choices: readonly { delta?: { content?: unknown } }[] };

type Relay = { readonly data: (bytes: Buffer) => void; readonly end: () => void };

function relayOf(response: ServerResponse): Relay {
  let unsent = "";
  let held: Chunk | undefined;
  let timer: NodeJS.Timeout | undefined;
  const send = (data: string) => {
    const event = `data: ${data}\n\n`;
    if (kind === "events") response.write(event);
    else unsent += event;
  };
  const release = () => {
    if (held) send(JSON.stringify(held));
    held = undefined;
  };
  const write = () => {
    timer = undefined;
    release();
    if (unsent !== "") response.write(unsent);
    unsent = "";
  };
  const push = sseEvents((data) => {
    if (data === "[DONE]") {
      release();
      return send(data);
    }
    const chunk = JSON.parse(data) as Chunk;
    const text = merging ? chunk.choices[0]?.delta?.content : undefined;
    const before = held?.choices[0]?.delta;
    if (before && typeof text === "string") return void (before.content = String(before.content) + text);
    release();
    if (typeof text === "string" && text !== "") held = chunk;
    else send(JSON.stringify(chunk));
  });
  return {
    data(bytes) {
      push(bytes);
      if (holdMs === 0) write();
      else timer ??= setTimeout(write, holdMs);
    },
    end() {
      clearTimeout(timer);
      write();
      response.end();
    },
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
      const asRead: Relay = { data: (bytes) => response.write(bytes), end: () => response.end() };
      const relay = kind === "bytes" ? asRead : relayOf(response);
      answer.on("data", relay.data);
      answer.on("end", relay.end);
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
