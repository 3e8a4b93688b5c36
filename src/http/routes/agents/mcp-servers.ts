import { STATUS_CODES } from "node:http";
import type { FastifyReply } from "fastify";
import { z } from "zod";
import { mcpServerStateSchema } from "../../../protocol/agents/mcp-servers.ts";
import { ColloquyError, NotFound } from "../../../protocol/base/errors.ts";
import { clientMetadataOf } from "../../../tools/mcp/sign-in/flow.ts";
import { endpoint } from "../../server/endpoint.ts";
import { nativeErrorSchema } from "../../shapes/error-schemas.ts";
import { closedSignal } from "../../stream/sse.ts";
import { listOf } from "../../shapes/schemas.ts";
import type { McpSignIns, Services } from "../../server/services.ts";

const nameParams = z.object({ name: z.string().max(32) });
const html = { "text/html": { schema: z.string() } };
const page = { description: "A page for people", content: html };
const failurePage = {
  description: "A page for people",
  content: { ...html, "application/json": { schema: nativeErrorSchema } },
};
const failurePages = { "4xx": failurePage, "5xx": failurePage };

export const listMcpServers = endpoint({
  needs: "ask",
  tag: "agents",
  summary: "List the MCP servers whose tools you have",
  description: "As they are for you: to some of them each user signs in.",
  answers: { 200: listOf(mcpServerStateSchema) },
  async handle({ caller, services, reply }) {
    return { data: (await services.mcp?.statesFor(caller, closedSignal(reply))) ?? [] };
  },
});

export const signInToMcpServer = endpoint({
  needs: "account",
  tag: "agents",
  summary: "Begin to sign in to an MCP server",
  description: "A person opens `url` in a browser within ten minutes, which comes back to `/api/mcp/callback`.",
  params: nameParams,
  answers: { 200: z.object({ url: z.string() }) },
  handle: async ({ params, caller, services }) => ({ url: await mcpOf(services).begin(params.name, caller.userId) }),
});

export const signOutOfMcpServer = endpoint({
  needs: "account",
  tag: "agents",
  summary: "Sign out of an MCP server",
  description:
    "What you were signed in with is deleted here, and revoked where you signed in if that is offered there.",
  params: nameParams,
  answers: {
    200: z.object({ revoked: z.boolean(), reason: z.string().optional().describe("Why it was not revoked") }),
  },
  handle: ({ params, caller, services }) => mcpOf(services).forget(params.name, caller.userId),
});

export const followSignInLink = endpoint({
  needs: "nothing",
  tag: "agents",
  summary: "To where a user signs in to an MCP server",
  description: "The link that a tool's result or the list of servers gave to a user.",
  open: () => true,
  query: z.object({ ticket: z.string().max(1000) }),
  answers: { 302: z.null(), ...failurePages },
  async handle({ query, services, reply }) {
    try {
      return reply.header("referrer-policy", "no-referrer").redirect(await mcpOf(services).beginByLink(query.ticket));
    } catch (error) {
      return showFailure(reply, error);
    }
  },
});

export const finishSignIn = endpoint({
  needs: "nothing",
  tag: "agents",
  summary: "Where browsers come back to after signing in to an MCP server",
  open: () => true,
  query: z.object({
    state: z.string().max(1000),
    code: z.string().max(4000).optional(),
    error: z.string().max(200).optional(),
    iss: z.string().max(1000).optional(),
  }),
  answers: { 200: page, ...failurePages },
  async handle({ query, services, reply }) {
    try {
      const server = await mcpOf(services).finish(query);
      return show(reply, `You are signed in to ${server}. You may close this page.`);
    } catch (error) {
      return showFailure(reply, error);
    }
  },
});

/** RFC 7591 metadata at an address, which is the client's name for servers that take that instead of registering it. */
export const describeMcpClient = endpoint({
  needs: "nothing",
  tag: "agents",
  summary: "What this server is as an OAuth client",
  open: () => true,
  answers: { 200: z.record(z.string(), z.unknown()) },
  handle({ services }) {
    const base = mcpOf(services).base();
    return { client_id: `${base}/api/mcp/client.json`, client_uri: base, ...clientMetadataOf(base) };
  },
});

function mcpOf({ mcp }: Services): McpSignIns {
  if (!mcp) throw new NotFound("This server has no MCP servers.");
  return mcp;
}

function showFailure(reply: FastifyReply, error: unknown): FastifyReply {
  if (!(error instanceof ColloquyError) || error.status === 500) throw error;
  reply.code(error.status);
  return show(reply, error.message);
}

function show(reply: FastifyReply, text: string): FastifyReply {
  const title = reply.statusCode === 200 ? "Signed in" : (STATUS_CODES[reply.statusCode] ?? "");
  return reply
    .header("content-type", "text/html; charset=utf-8")
    .header("cache-control", "no-store")
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escape(title)}</title><p>${escape(text)}</p></html>\n`,
    );
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
