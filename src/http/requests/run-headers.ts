import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { canonicalJson } from "../../protocol/base/exact-json.ts";
import { InvalidInput } from "../../protocol/base/errors.ts";
import type { StartInput } from "../../run/runs.ts";
import { parentHeader } from "../../run/step/request-origin.ts";

/** The `Idempotency-Key` of a request with the hash of its body, so that the same key never covers two requests. */
export function idempotencyOf(request: FastifyRequest): StartInput["idempotency"] {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return undefined;
  if (typeof key !== "string" || key === "" || key.length > 255)
    throw new InvalidInput("Idempotency-Key must have 1 to 255 characters.", { param: "Idempotency-Key" });
  return idempotencyOfKey(key, [request.url, request.headers["x-session-id"], request.body]);
}

/** Makes the idempotency of a key that is not in the header; `about`: everything that the request asks for. */
export function idempotencyOfKey(key: string, about: unknown): NonNullable<StartInput["idempotency"]> {
  return { key, bodyHash: createHash("sha256").update(canonicalJson(about)).digest("hex") };
}

/**
 * `session_id` of a body, else the header `x-session-id`: the caller's own name of the thread to go on with. Beside the same
 * `x-session-affinity` it only says where to route, and names no thread: opencode sends both with the whole conversation, and with what
 * it asks beside it, such as for a title.
 */
export function sessionNameOf({ headers }: FastifyRequest, given?: unknown): string | undefined {
  const { "x-session-id": named, "x-session-affinity": route } = headers;
  const session = given ?? (named === route ? undefined : named);
  if (session === undefined) return undefined;
  if (typeof session !== "string" || session === "" || session.length > 255)
    throw new InvalidInput("session_id must have 1 to 255 characters.", { param: "session_id" });
  return session;
}

/** Returns the header of a request that a run sent to its own server; runs it starts belong to that run. */
export function parentRunOf({ headers }: Pick<FastifyRequest, "headers">): { readonly within?: string } {
  const header = headers[parentHeader];
  return typeof header === "string" ? { within: header } : {};
}
