import type { FastifyRequest } from "fastify";
import { InvalidInput } from "../../protocol/base/errors.ts";

/** `session_id` of a body, else the header `x-session-id`: the caller's own name of the thread to go on with. */
export function sessionNameOf(request: FastifyRequest, given?: unknown): string | undefined {
  const session = given ?? request.headers["x-session-id"];
  if (session === undefined) return undefined;
  if (typeof session !== "string" || session === "" || session.length > 255)
    throw new InvalidInput("session_id must have 1 to 255 characters.", { param: "session_id" });
  return session;
}
