import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { NotFound } from "../../protocol/base/errors.ts";
import { endpoint, type EndpointRoute } from "./endpoint.ts";
import { baseOf } from "./origins.ts";

const wellKnown = "/.well-known/oauth-protected-resource";

/** RFC 9728: tells an MCP client how to log in to a server of ours. An API key is the token; nobody hands out others. */
export function resourceMetadataRoutes(paths: readonly string[]): EndpointRoute[] {
  const serve = (path: string) =>
    endpoint({
      needs: "nothing",
      tag: "MCP",
      summary: `How to log in to ${path} (RFC 9728)`,
      open: () => true,
      answers: {
        200: z.object({
          resource: z.string(),
          resource_name: z.string(),
          bearer_methods_supported: z.array(z.string()),
          resource_documentation: z.string(),
        }),
      },
      handle({ request, services }) {
        if (services.access.mode === "local") throw new NotFound("This server has no logins.", { code: "no_login" });
        const base = baseOf(request);
        return {
          resource: `${base}${path}`,
          resource_name: "Colloquy",
          bearer_methods_supported: ["header"],
          resource_documentation: `${base}/docs`,
        };
      },
    });
  return paths.map((path): EndpointRoute => ["GET", `${wellKnown}${path}`, serve(path)]);
}

function isMcp({ url }: Pick<FastifyRequest, "url">): boolean {
  return /^\/mcp(?:[/?]|$)/.test(url);
}

/** The value of `WWW-Authenticate` for a request without a login that counts. */
export function challengeOf(request: FastifyRequest): string {
  if (!isMcp(request)) return "Bearer";
  const [path = ""] = request.url.split("?");
  return `Bearer resource_metadata="${baseOf(request)}${wellKnown}${path.replace(/\/$/, "")}"`;
}
