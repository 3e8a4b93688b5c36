import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { listen, type Listening } from "./listen.ts";
import type { Outside } from "./outside.ts";

type Request = {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: { readonly effect?: string } };
};

const tool = {
  name: "send",
  description: "Has an effect outside.",
  inputSchema: { type: "object", properties: { effect: { type: "string" } }, required: ["effect"] },
  annotations: { readOnlyHint: false, destructiveHint: false },
};

/** An MCP server without sessions whose one tool has effects; what the outside does to an answer, it does to its own. */
export async function startMcpServer(outside: Outside): Promise<Listening> {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(await text(request)) as Request;
    if (id === undefined) return void response.writeHead(202).end();
    const answer = (result: object) =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    if (method === "initialize")
      return void answer({
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "outside", version: "1.0.0" },
      });
    if (method === "tools/list") return void answer({ tools: [tool] });
    if (method !== "tools/call") return void answer({});
    await outside.perform(params?.arguments?.effect ?? "", {
      done: () => answer({ content: [{ type: "text", text: "done" }] }),
      breaks: () => request.socket.resetAndDestroy(),
      nonsense: () => response.writeHead(200, { "content-type": "text/html" }).end("<html><body>Bad gateway"),
    });
  });
  return listen(server);
}
