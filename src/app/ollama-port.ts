import type { Config } from "../config/schema.ts";
import { listenToo } from "../http/server/listen.ts";
import { askJson, fieldOf } from "../models/discovery/ask-json.ts";
import { messageOf } from "../protocol/base/errors.ts";
import type { Log } from "../protocol/base/log.ts";

const timeoutMs = 1000;

export type OllamaPort = {
  /** Where it listens too; undefined: it does not. */
  readonly url?: string;
  /** Why it does not, though it should. */
  readonly problem?: string;
  readonly close: () => void;
};

/** Listens where clients of Ollama look for it, if that is wanted. If the port is taken, the server goes on without. */
export async function openOllamaPort(
  app: Parameters<typeof listenToo>[0],
  { server: { host, port: main, ollamaPort } }: Pick<Config, "server">,
  log: Log,
): Promise<OllamaPort> {
  if (ollamaPort === undefined || ollamaPort === main) return { close() {} };
  try {
    const { close } = await listenToo(app, { host, port: ollamaPort });
    return { url: urlOf(host, ollamaPort), close };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const cause = code === "EADDRINUSE" ? await ownerOf(host, ollamaPort) : messageOf(error);
    const problem = `server.ollamaPort: ${cause}. Clients of Ollama that know no other port do not reach Colloquy`;
    log.warn({ port: ollamaPort }, problem);
    return { problem, close() {} };
  }
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
}

/** Whose the port seems to be, in words for a person. */
async function ownerOf(host: string, port: number): Promise<string> {
  const near = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  const reply = await askJson(`${urlOf(near, port)}/api/version`, { timeoutMs });
  const body = "body" in reply ? reply.body : undefined;
  const version = fieldOf(body, "version");
  if (fieldOf(body, "colloquy") !== undefined) return `another Colloquy has port ${port}`;
  if (typeof version === "string")
    return `Ollama ${version.slice(0, 40)} has port ${port}: stop it, or start it elsewhere (OLLAMA_HOST=127.0.0.1:11435)`;
  return `another program has port ${port}`;
}
