import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../../protocol/base/callers.ts";
import type { AuditLog } from "../../store/metering/audit-log.ts";
import { pathOf } from "./origins.ts";

/** Routes that administer, let in, hand out or act for others; all that deletes is audited too. */
const audited = /^\/api\/(admin|auth|shares|mcp|threads\/:id\/shares|rooms\/:id\/(interrupt|decisions|members))(\/|$)/;

/** Takes all of a person's data along. */
const exported = /^\/api\/(admin\/users\/:id|auth\/me)\/export$/;

/**
 * Once a request is over, answered or not. Nothing of its body or query is kept, where passwords and tokens are, but the name
 * that somebody tried to come in with.
 */
export function auditRequest(
  audit: AuditLog,
  {
    request,
    reply,
    caller,
  }: { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly caller: Caller | undefined },
): void {
  const route = request.routeOptions.url;
  if (route === undefined || !isAudited(request, route)) return;
  audit.add({
    userId: caller?.userId ?? null,
    userName: caller?.name ?? triedName(request),
    via: caller?.via ?? "none",
    // The address of a closed connection is unknown.
    address: request.ip ?? "",
    method: request.method,
    path: route === "/chatkit" ? `${route} ${operationOf(request)}` : pathOf(request).slice(0, 500) + madeIn(request),
    status: reply.raw.headersSent ? reply.statusCode : 499,
    requestId: request.id,
  });
}

function isAudited(request: FastifyRequest, route: string): boolean {
  const { method } = request;
  if (method === "DELETE") return true;
  if (method === "GET") return route.endsWith("/callback") || exported.test(route);
  if (method === "HEAD" || method === "OPTIONS") return false;
  return route === "/chatkit" ? /\.delete$/.test(operationOf(request)) : audited.test(route);
}

/** Returns the ID of what was (or was to be) defined, which is not in the path. */
function madeIn({ method, routeOptions, body }: FastifyRequest): string {
  const isMade = method === "POST" && /^\/api\/admin\/(agents|models|mcp-servers)$/.test(routeOptions.url ?? "");
  return isMade ? ` ${stringIn(body, "id").slice(0, 100)}` : "";
}

function operationOf(request: FastifyRequest): string {
  return stringIn(request.body, "type").slice(0, 100);
}

function triedName(request: FastifyRequest): string {
  return stringIn(request.body, "username").slice(0, 100);
}

function stringIn(body: unknown, key: string): string {
  const value = typeof body === "object" && body !== null ? (body as Record<string, unknown>)[key] : undefined;
  return typeof value === "string" ? value : "";
}
