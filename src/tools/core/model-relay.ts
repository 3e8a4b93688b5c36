import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ColloquyError, AccessDenied, InvalidInput, LostRun, messageOf, NotFound } from "../../protocol/base/errors.ts";
import { createByteBuffer } from "../../protocol/base/byte-buffer.ts";
import { checkJsonBounds, longChatJsonBounds } from "../../protocol/base/json-bounds.ts";
import type { StepAnswer, StepRequest, ToolContext } from "../../protocol/agents/tools.ts";

/** The wire of `POST /v1/chat/completions`, which the relay speaks. */
export type ChatWire = {
  /** Throws InvalidInput for what is no request. */
  decode(body: unknown): { readonly request: StepRequest; readonly stream: boolean; readonly includeUsage: boolean };
  /** The whole answer: events if it was asked for as a stream, else one JSON object. */
  encode(answer: StepAnswer, how: { readonly stream: boolean; readonly includeUsage: boolean }): string;
};

export type RelayRequest = {
  readonly method: string;
  readonly path: string;
  /** The header: `Bearer <token>`. */
  readonly authorization: string | undefined;
  /** Parsed JSON. */
  readonly body: unknown;
  /** Fires when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
};
export type RelayResponse = { readonly status: number; readonly contentType: string; readonly body: string };

/**
 * Gives programs that work for a tool call access to a model, in OpenAI's protocol. Each request is the call's own
 * `context.step()`: a recorded step of the same run, within its limits. The program needs no provider key.
 */
export type ModelRelay = {
  /** Creates a token for one call; it allows steps of that call until it is revoked. */
  grant(step: ToolContext["step"]): { readonly token: string; withdraw(): void };
  /** Throws without a valid token; call it before reading the body. */
  admit(authorization: string | undefined): void;
  /** Answers a request. Never throws: errors become the answer. */
  answer(request: RelayRequest): Promise<RelayResponse>;
  /** Serves the relay on a unix socket, for a sandbox. */
  listen(context: Pick<ToolContext, "step" | "signal">): Promise<ListeningRelay>;
};

export type ListeningRelay = {
  readonly socket: string;
  readonly token: string;
  /** Fires with the reason when the run has gone to another process: what works for the call is to stop. */
  readonly lost: AbortSignal;
  close(): Promise<void>;
};

const maxBodyBytes = 8 * 1024 * 1024;
const maxConnections = 32;

export function createModelRelay(wire: ChatWire): ModelRelay {
  const steps = new Map<string, ToolContext["step"]>();

  const grant: ModelRelay["grant"] = (step) => {
    const token = randomBytes(32).toString("hex");
    steps.set(token, step);
    return { token, withdraw: () => void steps.delete(token) };
  };

  /** Found by its hash in a table: how long that takes tells nothing about a token of 256 random bits. */
  function stepOf(authorization: string | undefined): ToolContext["step"] {
    const step = steps.get(/^Bearer (\S{1,100})$/.exec(authorization ?? "")?.[1] ?? "");
    if (!step) throw new AccessDenied(401, "This token is not valid: it expires with the call it was created for.");
    return step;
  }
  const admit: ModelRelay["admit"] = (authorization) => void stepOf(authorization);

  async function answerOrThrow({ method, path, authorization, body, signal }: RelayRequest): Promise<RelayResponse> {
    const step = stepOf(authorization);
    if (method === "GET" && /\/models$/.test(path)) return json(200, modelList);
    if (method !== "POST" || !/\/chat\/completions$/.test(path))
      throw new NotFound("There are POST /v1/chat/completions and GET /v1/models.");
    const { request, ...how } = wire.decode(body);
    const text = wire.encode(await step(request, signal), how);
    return { status: 200, contentType: how.stream ? "text/event-stream" : "application/json", body: text };
  }

  const answer: ModelRelay["answer"] = (request) => answerOrThrow(request).catch(failure);

  return {
    grant,
    admit,
    answer,
    async listen({ step, signal }) {
      const lost = new AbortController();
      const { token, withdraw } = grant((request, stop) =>
        step(request, stop).catch((error: unknown) => {
          if (error instanceof LostRun) lost.abort(error);
          throw error;
        }),
      );
      const listening = await listenOnSocket({ admit, answer }, signal);
      const close = async () => {
        withdraw();
        await listening.close();
      };
      return { socket: listening.socket, token, lost: lost.signal, close };
    },
  };
}

type RelayHandler = Pick<ModelRelay, "admit" | "answer">;

async function listenOnSocket(relay: RelayHandler, signal: AbortSignal) {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-relay-"));
  const socket = join(folder, "socket");
  const server = createServer((request, response) => void serve(request, response, { ...relay, signal }));
  server.maxConnections = maxConnections;
  // Between two questions to a model a program may work for long.
  server.keepAliveTimeout = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  // Of this process alone, where several workers serve.
  server.listen({ path: socket, exclusive: true }, resolve);
  await promise.catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true });
    throw error;
  });
  // Commands run as somebody else; who may ask is a matter of the token.
  await chmod(folder, 0o711);
  await chmod(socket, 0o666);
  return {
    socket,
    async close() {
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { admit, answer, signal }: RelayHandler & { readonly signal: AbortSignal },
): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort(new Error("The caller disconnected.")));
  const { method = "", url = "", headers } = request;
  const read = await readJson(request, admit).catch((error: unknown) => ({ failed: failure(error) }));
  const answered =
    "failed" in read
      ? read.failed
      : await answer({
          method,
          path: url.split("?")[0]!,
          authorization: headers.authorization,
          body: read.body,
          signal: AbortSignal.any([signal, gone.signal]),
        });
  if (response.destroyed) return;
  response.writeHead(answered.status, {
    "content-type": answered.contentType,
    "cache-control": "no-store",
    // Nobody wants the rest of a body that was not read.
    ...(!request.complete && { connection: "close" }),
  });
  response.end(answered.body);
}

async function readJson(request: IncomingMessage, admit: ModelRelay["admit"]): Promise<{ readonly body: unknown }> {
  admit(request.headers.authorization);
  const gathered = createByteBuffer(maxBodyBytes);
  for await (const chunk of request as AsyncIterable<Buffer>)
    if (!gathered.add(chunk))
      throw new InvalidInput(`A request has at most ${maxBodyBytes} bytes.`, { code: "too_large", status: 413 });
  const { bytes } = gathered;
  if (bytes.length === 0) return { body: undefined };
  checkJsonBounds(bytes, longChatJsonBounds);
  try {
    return { body: JSON.parse(new TextDecoder().decode(bytes)) as unknown };
  } catch (cause) {
    throw new InvalidInput("The body is not JSON.", { cause });
  }
}

/** Ignores the requested model name: the run decides which model answers. */
const modelList = { object: "list", data: [{ id: "colloquy", object: "model", created: 0, owned_by: "colloquy" }] };

function json(status: number, body: object): RelayResponse {
  return { status, contentType: "application/json", body: JSON.stringify(body) };
}

function failure(error: unknown): RelayResponse {
  const { status, code } = error instanceof ColloquyError ? error : { status: 500, code: "internal" };
  return json(status, { error: { message: messageOf(error), type: code, code } });
}
