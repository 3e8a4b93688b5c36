import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../protocol/base/errors.ts";
import { parseExactly } from "../protocol/base/exact-json.ts";
import { addressAt, type ServerAccess } from "./request.ts";
import { createSseParser } from "./sse.ts";

export type McpBridge = {
  /** The server; asked again when it can't be reached, since one that was started anew may listen elsewhere. */
  readonly locate: () => Promise<ServerAccess>;
  readonly input: Readable;
  readonly output: Writable;
  /** After the end of the input, for answers that are on their way; 30 s when absent. */
  readonly lastAnswersMs?: number;
};

type RequestId = string | number;
type JsonRpcMessage = {
  readonly id?: RequestId;
  readonly method?: string;
  readonly params?: {
    readonly name?: unknown;
    readonly uri?: unknown;
    readonly requestId?: unknown;
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
};

type OpenRequest = { readonly control: AbortController; readonly isModern: boolean };

const versionKey = "io.modelcontextprotocol/protocolVersion";
const sessionHeader = "mcp-session-id";
const maxAtOnce = 256;
const maxCharacters = 10_000_000;

/**
 * Carries MCP between a program that speaks it over its standard input and output, a message a line, and the server's `/mcp`,
 * in either era of the protocol. Resolves when the input ends; what is not answered soon after is given up.
 */
export async function bridgeMcp({ locate, input, output, lastAnswersMs = 30_000 }: McpBridge): Promise<void> {
  const working = new Map<RequestId, OpenRequest>();
  const answers = new Set<Promise<void>>();
  const all = new AbortController();
  const connection = { server: await locate(), session: undefined as string | undefined, version: "" };
  const write = (message: unknown) => void output.write(`${JSON.stringify(message)}\n`);
  const fail = (id: RequestId | null, code: number, message: string) =>
    write({ jsonrpc: "2.0", id, error: { code, message } });

  async function send(message: JsonRpcMessage, signal: AbortSignal): Promise<Response> {
    const post = () =>
      fetch(addressAt(connection.server, "/mcp"), {
        method: "POST",
        headers: headersOf(message, connection),
        body: JSON.stringify(message),
        signal,
      });
    try {
      return await post();
    } catch (error) {
      // Nothing was sent: the server is gone, or listens elsewhere by now.
      if (signal.aborted || !isRefused(error)) throw error;
      connection.server = await locate();
      return post();
    }
  }

  async function answer(message: JsonRpcMessage): Promise<void> {
    const { id = null, method } = message;
    const control = new AbortController();
    if (id !== null) working.set(id, { control, isModern: ownVersion(message) !== undefined });
    try {
      const signal = AbortSignal.any([control.signal, all.signal]);
      const response = await send(message, signal);
      if (method === "initialize") connection.session = response.headers.get(sessionHeader) ?? undefined;
      for await (const answered of messagesOf(response)) {
        if (method === "initialize") connection.version = versionIn(answered) ?? connection.version;
        // A refusal from before MCP read the request does not know its id.
        write(id !== null && isObject(answered) && answered["id"] === null ? { ...answered, id } : answered);
      }
    } catch (error) {
      if (control.signal.aborted || all.signal.aborted || id === null) return;
      fail(id, -32603, `Colloquy can't be reached: ${messageOf(causeOf(error))}`);
    } finally {
      if (id !== null) working.delete(id);
    }
  }

  for await (const line of linesOf(input)) {
    if (line?.trim() === "") continue;
    const message = line === undefined ? undefined : parse(line);
    if (!message) fail(null, -32700, "A line must hold one JSON object, of 10 MB at most.");
    else if (takesBack(message, working)) continue;
    else if (working.size >= maxAtOnce && message.id !== undefined)
      fail(message.id, -32000, `No more than ${maxAtOnce} requests at once.`);
    // What asks for nothing is sent before what comes after it.
    else if (message.id === undefined || message.method === "initialize") await answer(message);
    else {
      const answered = answer(message);
      answers.add(answered);
      void answered.finally(() => answers.delete(answered));
    }
  }
  await Promise.race([Promise.allSettled(answers), sleep(lastAnswersMs, undefined, { ref: false })]);
  all.abort();
}

/** In the newer protocol a request is taken back by closing its connection; in the older one the server is told. */
function takesBack({ method, params }: JsonRpcMessage, working: ReadonlyMap<RequestId, OpenRequest>): boolean {
  const request = method === "notifications/cancelled" ? working.get(params?.requestId as RequestId) : undefined;
  if (!request?.isModern) return false;
  request.control.abort();
  return true;
}

function ownVersion({ params }: JsonRpcMessage): string | undefined {
  const version = params?._meta?.[versionKey];
  return typeof version === "string" ? version : undefined;
}

function headersOf(
  message: JsonRpcMessage,
  {
    server,
    session,
    version,
  }: { readonly server: ServerAccess; readonly session: string | undefined; readonly version: string },
): Record<string, string> {
  const { method, params } = message;
  const own = ownVersion(message);
  const name = params?.name ?? params?.uri;
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(server.token !== undefined && { authorization: `Bearer ${server.token}` }),
    ...(own !== undefined
      ? {
          "mcp-protocol-version": own,
          ...(method !== undefined && { "mcp-method": method }),
          ...(typeof name === "string" && { "mcp-name": headerText(name) }),
        }
      : {
          ...(version !== "" && { "mcp-protocol-version": version }),
          ...(session !== undefined && { [sessionHeader]: session }),
        }),
  };
}

/** A header holds visible ASCII only; anything else is written as the protocol says. */
function headerText(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?");
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

async function* messagesOf(response: Response): AsyncGenerator<unknown> {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  if (!isStream || !response.body) {
    const text = await response.text();
    if (text !== "") yield parseExactly(text);
    return;
  }
  const parse = createSseParser();
  const decoder = new TextDecoder();
  for await (const bytes of response.body)
    for (const { data } of parse(decoder.decode(bytes, { stream: true }))) if (data !== "") yield parseExactly(data);
}

/** Undefined for a line that is too long, of which nothing is kept. */
async function* linesOf(input: Readable): AsyncGenerator<string | undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  let isTooLong = false;
  for await (const chunk of untilDestroyed(input)) {
    const [first = "", ...lines] = decoder.decode(chunk as Buffer, { stream: true }).split("\n");
    rest += first;
    for (const line of lines) {
      yield isTooLong || rest.length > maxCharacters ? undefined : rest;
      isTooLong = false;
      rest = line;
    }
    if (rest.length <= maxCharacters) continue;
    isTooLong = true;
    rest = "";
  }
}

/** Whoever destroys the input ends it. */
async function* untilDestroyed(input: Readable): AsyncGenerator<unknown> {
  try {
    yield* input;
  } catch (error) {
    if (!input.destroyed) throw error;
  }
}

function parse(line: string): JsonRpcMessage | undefined {
  try {
    const value = parseExactly(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function versionIn(answer: unknown): string | undefined {
  const { result } = answer as { result?: { protocolVersion?: unknown } };
  return typeof result?.protocolVersion === "string" ? result.protocolVersion : undefined;
}

function isRefused(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
}

function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
