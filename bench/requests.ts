import type { Server } from "./part.ts";
import { agentOf } from "./product.ts";
import { formatScript, type Script } from "./script.ts";
import type { LoadInput } from "./sse-load.ts";

export type Request = Pick<LoadInput, "port" | "path" | "body" | "headers" | "tokens">;

function chat(server: Server, script: Script, body: object): Request {
  const messages = [{ role: "user", content: "Add the numbers, then tell me the result." }];
  return {
    port: server.port,
    path: "/v1/chat/completions",
    body: { messages, stream: true, ...body },
    tokens: script.tokens,
  };
}

/** Asks the model of a script. */
export function askModel(server: Server, script: Script): Request {
  return chat(server, script, { model: formatScript(script) });
}

/** Asks the agent of a script: a durable run, in a new thread unless a session is named. */
export function askAgent(server: Server, script: Script, session?: string): Request {
  return chat(server, script, { model: agentOf(script), ...(session !== undefined && { session_id: session }) });
}
