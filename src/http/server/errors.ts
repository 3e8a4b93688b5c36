import { isAnthropic } from "./entry.ts";
import { pathOf } from "./origins.ts";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { ColloquyError, type ErrorDetail, InvalidInput, NotFound, Unavailable } from "../../protocol/base/errors.ts";
import { diskFull, isUnkeepableText, sqlState } from "../../store/driver/sql-state.ts";
import { challengeOf } from "./resource-metadata.ts";
import { type ErrorForm, errorFormOf } from "../shapes/error-schemas.ts";
import { anthropicError, anthropicStatus } from "../shapes/anthropic-error.ts";
import { ollamaError } from "../shapes/ollama-error.ts";
import { openAiError } from "../shapes/openai-error.ts";
import { shownMessage } from "../shapes/shown-message.ts";

/** The native form of an error. */
export type NativeError = {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly requestId: string;
    readonly param?: string;
    readonly problems?: ErrorDetail["problems"];
  };
};

const longestParam = 200;

/** The one place where errors become answers, in the form of the route's dialect. */
export function answerError(thrown: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const error = asColloquyError(thrown, request);
  const form = formOf(request);
  const status = form === "anthropic" ? anthropicStatus(error) : (error?.status ?? 500);
  if (!error) request.log.error({ err: thrown }, "request failed");
  // Expected, such as a provider that is away: who runs the server needs the words, and no stack.
  else if (status >= 500) request.log.warn({ code: error.code, error: thrown.message }, "request failed");
  if (reply.raw.destroyed) return;
  if (status === 401) reply.header("www-authenticate", challengeOf(request));
  if (error) setRetryAfter(error, reply);
  reply.code(status).send(errorBodies[form](error, request.id));
}

/** Says when it may be of use to ask again. */
export function setRetryAfter({ detail: { retryAfterSeconds } }: ColloquyError, reply: FastifyReply): void {
  if (retryAfterSeconds !== undefined) reply.header("retry-after", Math.ceil(retryAfterSeconds));
}

/** For what is refused before any hook has seen it: nothing bounds the time of its body, so the connection ends. */
export function answerUnrouted(thrown: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  answerError(thrown, request, reply.header("connection", "close"));
}

/** Models are listed for clients of two protocols. */
function formOf(request: FastifyRequest): ErrorForm {
  const path = pathOf(request);
  return isAnthropic(request) && /^\/v1\/models(?:\/|$)/.test(path) ? "anthropic" : errorFormOf(path);
}

const errorBodies: Readonly<Record<ErrorForm, (error: ColloquyError | undefined, requestId: string) => object>> = {
  native: nativeError,
  openai: openAiError,
  anthropic: anthropicError,
  ollama: ollamaError,
  "json-rpc": jsonRpcError,
};

/** For routes nobody has. */
export function answerUnknownRoute(request: FastifyRequest): never {
  throw new NotFound(`Route ${request.method} ${pathOf(request)} not found. GET /docs lists all routes.`, {
    code: "unknown_route",
  });
}

function nativeError(error: ColloquyError | undefined, requestId: string): NativeError {
  if (!error) return { error: { code: "internal", message: "Internal error; the server's log has more.", requestId } };
  const { param, problems } = error.detail;
  const more = { ...(param !== undefined && { param: param.slice(0, longestParam) }), ...(problems && { problems }) };
  return { error: { code: error.code, message: shownMessage(error.message), requestId, ...more } };
}

/** JSON-RPC error for a request that was refused before MCP read it. */
function jsonRpcError(error: ColloquyError | undefined, requestId: string): object {
  const code = error?.code === "invalid_json" ? -32700 : -32000;
  return {
    jsonrpc: "2.0",
    id: null,
    error: { code, message: error ? shownMessage(error.message) : "Internal error", data: { requestId } },
  };
}

/** Undefined for what nobody foresaw. */
function asColloquyError(error: FastifyError, request: FastifyRequest): ColloquyError | undefined {
  // Where the database is, is for the log.
  if (error instanceof ColloquyError && /^database_/.test(error.code) && error.status === 503)
    return new Unavailable("The database is unavailable. Try again.", { code: error.code, retryAfterSeconds: 5 });
  if (error instanceof ColloquyError) return error;
  if (sqlState(error) === diskFull)
    return new Unavailable("The server has no disk space left; nothing from this request was saved.", {
      code: "disk_full",
    });
  if (isUnkeepableText(error))
    return new InvalidInput("The request contains the character NUL, which can't be stored.", {
      code: "invalid_text",
      cause: error,
    });
  if (error.code === "ECONNRESET" && !request.raw.complete)
    return new InvalidInput("The connection was closed in the middle of the body.", { code: "body_incomplete" });
  if (error.code === "FST_ERR_CTP_INVALID_MEDIA_TYPE")
    return new InvalidInput("Send JSON with content-type application/json.", {
      code: "unsupported_media_type",
      status: 415,
    });
  // what Fastify itself refuses, such as a URL that can't be decoded
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
    return new ColloquyError(error.code ?? "bad_request", error.statusCode, error.message);
  return undefined;
}
