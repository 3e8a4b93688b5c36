import type { FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import type { z } from "zod";
import type { Caller } from "../../protocol/base/callers.ts";
import type { RequiredScope } from "../../protocol/base/scopes.ts";
import type { Services } from "./services.ts";
import type { SseStreams } from "../stream/sse.ts";

/** One request, checked and authenticated, with what its handler may use. */
export type EndpointCall<Params = unknown, Query = unknown, Body = unknown> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly caller: Caller;
  /** With which login it came in, if with one. */
  readonly sessionId?: string | undefined;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly services: Services;
  readonly streams: SseStreams;
};

/** A JSON answer's schema, or the name of an event stream's content for the document. */
export type ResponseContent =
  | z.ZodType
  | { readonly description: string; readonly content: Record<string, { readonly schema: z.ZodType }> };

export type EndpointTag =
  | "accounts"
  | "server"
  | "OpenAI"
  | "Anthropic"
  | "Ollama"
  | "chat"
  | "threads"
  | "rooms"
  | "files"
  | "knowledge"
  | "runs"
  | "schedules"
  | "tasks"
  | "agents"
  | "MCP"
  | "admin";

type EndpointDescription = {
  /** Scope that the caller needs; if it depends on the body, the handler checks too. */
  readonly needs: RequiredScope;
  readonly summary: string;
  readonly description?: string;
  readonly tag: EndpointTag;
  /** Which requests are answered without a login; none when absent. Their call has no caller. */
  readonly open?: (request: FastifyRequest) => boolean;
  /**
   * Checks access to an open route, instead of a login and before any of the body is read; throws if it is denied. Without it an
   * open route accepts 16 KB.
   */
  readonly admit?: (request: FastifyRequest, services: Services) => void;
  /** HEAD is answered as GET, without the body: what browsers, crawlers and monitors look at. */
  readonly takesHead?: true;
  /** Answered also while the node can't work: nothing of the database is asked. */
  readonly standsAlone?: true;
  /** Answers by status. Errors in the usual form are described without it. */
  readonly answers: Readonly<Partial<Record<number | "4xx" | "5xx", ResponseContent>>>;
  /** The body of a failure, where it tells more than the error. */
  readonly failure?: z.ZodType;
  /** The handler decodes the body itself: its schema is only for the document. */
  readonly decodesBody?: true;
  /** A body of the type `application/x-www-form-urlencoded` is what it says, and not JSON. */
  readonly takesForm?: true;
  /** The body's numbers that a double would change come as they were written (`ExactNumber`): it holds a call's arguments. */
  readonly keepsNumbers?: true;
  /** The body may be as large and as rich as the configuration says: conversations, pictures, arguments and results of calls. */
  readonly takesLong?: true;
  /** `any`: the body is a stream of bytes, whatever its type, and of any length. `form`: `request.files()` reads it. */
  readonly takesBody?: "any" | "form";
};

export type Endpoint = EndpointDescription & {
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  handle(call: EndpointCall): unknown;
};

/** `[method, path, endpoint]`, as the table of routes in app.ts lists them. */
export type EndpointRoute = readonly [method: HTTPMethods, path: string, endpoint: Endpoint];

/** The parameter that holds the rest of a path which ends with `*`. */
export function restName(path: string): "id" | "path" {
  return path.startsWith("/v1/models/") ? "id" : "path";
}

/** Ties a handler's types to its schemas. */
export function endpoint<
  Params extends z.ZodType = z.ZodUnknown,
  Query extends z.ZodType = z.ZodUnknown,
  Body extends z.ZodType = z.ZodUnknown,
>(
  definition: EndpointDescription & {
    readonly params?: Params;
    readonly query?: Query;
    readonly body?: Body;
    handle(call: EndpointCall<z.output<Params>, z.output<Query>, z.output<Body>>): unknown;
  },
): Endpoint {
  return definition;
}
