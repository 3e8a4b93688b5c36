/**
 * A model server for tests: real HTTP, three real wires, scripted answers, faults on demand.
 *
 *     const server = await startModelServer();
 *     server.answer({ text: ["Hel", "lo"] }, { calls: [{ name: "add_task", arguments: { title: "Buy milk" } }] });
 *     // … point a model at it: openai `${server.url}/v1`, anthropic `${server.url}/v1`, ollama `server.url`
 *     assert.equal(server.requests[0]?.body["stream"], true);
 *     await server.close();
 *
 * - `answer(...)` queues answers for the next requests, whatever their wire; `always(...)` answers when the queue is
 *   empty, from a fixed answer or a function of the request. With neither, the answer is the text "ok".
 * - `ServerAnswer` (answers.ts) has the content, the error statuses, how it is cut into writes, and the faults.
 * - `requests` has what came; `closedEarly` is true when the client left before the end of the answer.
 *   `until(condition)` waits for anything that changes with a request's beginning or end.
 * - `refusing(fields, answer)` is an answer that gives 400 naming the first of the fields that a request has.
 * - `startModelServer({ kind })` has only the paths of one kind, for the probe; `models`, `loading` and `key` say what
 *   it lists, whether it still loads (503), and which key it wants (401); `info` what else it says of itself.
 */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { anthropicWire } from "./anthropic-wire.ts";
import type { Body, ServerAnswer, WireFormat } from "./answers.ts";
import { ollamaWire } from "./ollama-wire.ts";
import { openaiWire } from "./openai-wire.ts";
import { sendAnswer } from "./send-answer.ts";

export type SeenRequest = {
  readonly wire: "openai" | "ollama" | "anthropic";
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Body;
  /** The same as it came. */
  readonly text: string;
  /** The client's port: the same for requests over one connection. */
  readonly connection: number | undefined;
  /** The answer was sent whole, or the client left before. */
  ended: boolean;
  closedEarly: boolean;
};
export type Answering = string | ServerAnswer | ((request: SeenRequest) => string | ServerAnswer);

export type ModelServerOptions = {
  readonly kind?: "all" | "ollama" | "llamacpp" | "lmstudio";
  readonly models?: readonly string[];
  readonly loading?: boolean;
  readonly key?: string;
  readonly contextTokens?: number;
  /** What it says of itself at these paths, instead of what its kind says; undefined: 404. */
  readonly info?: Readonly<Record<string, object | undefined>>;
};

export type ModelServer = {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly SeenRequest[];
  /** Paths of what it was asked of itself. */
  readonly asked: readonly string[];
  answer(...answers: Answering[]): void;
  always(answer: Answering): void;
  until(condition: () => boolean): Promise<void>;
  close(): Promise<void>;
};

const wires: Readonly<Record<string, readonly [SeenRequest["wire"], WireFormat]>> = {
  "/v1/chat/completions": ["openai", openaiWire],
  "/chat/completions": ["openai", openaiWire],
  "/v1/messages": ["anthropic", anthropicWire],
  "/messages": ["anthropic", anthropicWire],
  "/api/chat": ["ollama", ollamaWire],
};

export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const { models = ["served"], key } = options;
  const requests: SeenRequest[] = [];
  const asked: string[] = [];
  const queue: Answering[] = [];
  const waiting = new Set<() => void>();
  let otherwise: Answering = "ok";
  const changed = () => waiting.forEach((check) => check());

  const server = createServer((request, response) => void handle(request, response));

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "/").split("?")[0]!;
    if (
      key !== undefined &&
      request.headers.authorization !== `Bearer ${key}` &&
      request.headers["x-api-key"] !== key
    ) {
      return json(response, 401, { error: { message: "bad key", type: "invalid_request_error" } });
    }
    const wire = wires[path];
    if (!wire || request.method !== "POST") {
      asked.push(path);
      const answer = infoOf(path, { ...options, models });
      if (!answer) return json(response, 404, { error: { message: `no ${path} here` } });
      return json(response, answer.status ?? 200, answer.body);
    }
    const came = await text(request);
    const body = JSON.parse(came) as Body;
    const connection = request.socket.remotePort;
    const seen: SeenRequest = {
      wire: wire[0],
      path,
      headers: request.headers,
      body,
      text: came,
      connection,
      ended: false,
      closedEarly: false,
    };
    response.on("close", () => {
      seen.ended = true;
      seen.closedEarly = !response.writableFinished;
      changed();
    });
    requests.push(seen);
    changed();
    const answering = queue.shift() ?? otherwise;
    const answer = typeof answering === "function" ? answering(seen) : answering;
    await sendAnswer(response, typeof answer === "string" ? { text: answer } : answer, { wire: wire[1], body });
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    asked,
    answer: (...answers) => void queue.push(...answers),
    always: (answer) => void (otherwise = answer),
    until: (condition) =>
      new Promise((resolve) => {
        const check = () => {
          if (!condition()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** An upstream that answers 400 to the first of these fields that a request has, tools' own fields included. */
export function refusing(fields: readonly string[], answer: ServerAnswer): Answering {
  return ({ body }) => {
    const written = JSON.stringify(body);
    const refused = fields.find((field) => written.includes(`"${field}":`));
    return refused === undefined ? answer : { status: 400, error: `property '${refused}' is unsupported` };
  };
}

type Info = { readonly status?: number; readonly body: object };

function infoOf(path: string, options: ModelServerOptions & { readonly models: readonly string[] }): Info | undefined {
  const { kind = "all", models, loading, contextTokens = 8192, info = {} } = options;
  if (path in info) return info[path] && { body: info[path] };
  const openaiList = {
    object: "list",
    data: models.map((id) => ({ id, object: "model", created: 1, owned_by: kind === "lmstudio" ? "me" : "llamacpp" })),
  };
  const speaks = (...kinds: string[]) => kind === "all" || kinds.includes(kind);
  switch (path) {
    case "/health":
      if (!speaks("llamacpp")) return undefined;
      if (loading)
        return { status: 503, body: { error: { code: 503, message: "Loading model", type: "unavailable_error" } } };
      return { body: { status: "ok" } };
    case "/props":
      return speaks("llamacpp")
        ? { body: { default_generation_settings: { n_ctx: contextTokens }, total_slots: 1, model_path: models[0] } }
        : undefined;
    case "/v1/models":
      return speaks("llamacpp", "lmstudio") ? { body: openaiList } : undefined;
    case "/api/tags":
      return speaks("ollama")
        ? { body: { models: models.map((name) => ({ name, model: name, size: 1, details: {} })) } }
        : undefined;
    case "/api/show":
      return speaks("ollama")
        ? {
            body: {
              capabilities: ["completion", "tools"],
              model_info: { "general.architecture": "llama", "llama.context_length": contextTokens },
              details: {},
            },
          }
        : undefined;
    default:
      return undefined;
  }
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
