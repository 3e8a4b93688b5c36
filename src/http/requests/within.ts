import type { FastifyRequest } from "fastify";
import { parentHeader } from "../../run/step/request-origin.ts";

/** Of a request that a run sent to its own server: what it starts is a part of that run. */
export function withinOf({ headers }: Pick<FastifyRequest, "headers">): { readonly within?: string } {
  const header = headers[parentHeader];
  return typeof header === "string" ? { within: header } : {};
}
