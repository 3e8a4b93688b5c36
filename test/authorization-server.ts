import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";

/** What a test may change while the servers run. */
export type Behaviour = {
  /** Of access tokens, in seconds. */
  expiresIn: number;
  /** What it calls itself in its metadata and when people come back. */
  issuer: string | undefined;
  returnedIssuer: string | undefined;
  /** Answers every renewal and revocation with 503. */
  isDown: boolean;
  /** Takes tokens back, and says so. */
  revokes: boolean;
  /** The MCP server takes no token at all. */
  refusesAll: boolean;
  /** Who is logged in at the authorization server, where the address does not say it (`as`). */
  user: string;
};
export type Protected = {
  /** Of the MCP server. */
  readonly url: string;
  /** Of the authorization server, which has an origin of its own. */
  readonly issuer: string;
  readonly behaviour: Behaviour;
  readonly counts: { registrations: number; exchanges: number; renewals: number; requests: number; refusals: number };
  /** What was refused at the authorization server, for a test to see. */
  readonly faults: string[];
  /** How many tokens of a user count. */
  tokensOf(user: string): number;
  /** Access tokens, or all tokens, of a user count no more. */
  revoke(user: string, what: "access" | "all"): void;
  close(): Promise<void>;
};

type Grant = { readonly user: string; readonly client: string; readonly resource: string };

/** An MCP server that knows its users by tokens, and the server that gives them out, both small and strict. */
export async function startProtected(): Promise<Protected> {
  const behaviour: Behaviour = {
    expiresIn: 3600,
    issuer: undefined,
    returnedIssuer: undefined,
    isDown: false,
    revokes: true,
    refusesAll: false,
    user: "",
  };
  const counts = { registrations: 0, exchanges: 0, renewals: 0, requests: 0, refusals: 0 };
  const faults: string[] = [];
  const clients = new Map<string, string[]>();
  const codes = new Map<string, Grant & { readonly challenge: string; readonly redirectUri: string }>();
  const access = new Map<string, Grant & { readonly until: number }>();
  const refresh = new Map<string, Grant>();
  const used = new Set<string>();

  const fault = (response: ServerResponse, code: string, why: string) => {
    faults.push(why);
    json(response, { error: code, error_description: why }, 400);
  };
  const issue = (response: ServerResponse, grant: Grant) => {
    const [accessToken, refreshToken] = [random(), random()];
    access.set(accessToken, { ...grant, until: Date.now() + behaviour.expiresIn * 1000 });
    refresh.set(refreshToken, grant);
    json(response, {
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: behaviour.expiresIn,
      refresh_token: refreshToken,
    });
  };

  async function authorize(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? "", issuer);
    if (pathname === "/.well-known/oauth-authorization-server")
      return json(response, {
        issuer: behaviour.issuer ?? issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        registration_endpoint: `${issuer}/register`,
        ...(behaviour.revokes ? { revocation_endpoint: `${issuer}/revoke` } : {}),
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
        authorization_response_iss_parameter_supported: true,
      });
    if (pathname === "/register") {
      counts.registrations++;
      const asked = JSON.parse(await text(request)) as { readonly redirect_uris: string[] };
      const id = random();
      clients.set(id, asked.redirect_uris);
      return json(response, { ...asked, client_id: id }, 201);
    }
    if (pathname === "/authorize") {
      const [client = "", redirectUri = ""] = [query.get("client_id") ?? "", query.get("redirect_uri") ?? ""];
      if (!clients.get(client)?.includes(redirectUri)) return fault(response, "invalid_request", "redirect_uri");
      if (query.get("code_challenge_method") !== "S256") return fault(response, "invalid_request", "no PKCE");
      const code = random();
      const [challenge, resource] = [query.get("code_challenge") ?? "", query.get("resource") ?? ""];
      codes.set(code, { user: query.get("as") ?? behaviour.user, client, resource, challenge, redirectUri });
      const back = new URL(redirectUri);
      back.searchParams.set("code", code);
      back.searchParams.set("state", query.get("state") ?? "");
      back.searchParams.set("iss", behaviour.returnedIssuer ?? issuer);
      return void response.writeHead(302, { location: back.href }).end();
    }
    if (pathname !== "/token" && pathname !== "/revoke") return void response.writeHead(404).end();
    const form = new URLSearchParams(await text(request));
    const field = (name: string) => form.get(name) ?? "";
    if (pathname === "/revoke") {
      if (behaviour.isDown) return void response.writeHead(503).end();
      const token = field("token");
      const grant = refresh.get(token) ?? access.get(token);
      if (grant && grant.client !== field("client_id"))
        return fault(response, "invalid_client", "client of a revocation");
      refresh.delete(token);
      access.delete(token);
      return json(response, {});
    }
    if (field("grant_type") === "refresh_token") {
      counts.renewals++;
      if (behaviour.isDown) return void response.writeHead(503).end();
      const token = field("refresh_token");
      const grant = refresh.get(token);
      if (used.has(token)) faults.push("a refresh token was used twice");
      used.add(token);
      refresh.delete(token);
      if (grant?.client !== field("client_id")) return fault(response, "invalid_grant", "refresh token");
      if (grant.resource !== field("resource")) return fault(response, "invalid_target", "resource");
      return issue(response, grant);
    }
    counts.exchanges++;
    const grant = codes.get(field("code"));
    codes.delete(field("code"));
    const verified = createHash("sha256").update(field("code_verifier")).digest("base64url");
    if (grant?.client !== field("client_id") || grant.redirectUri !== field("redirect_uri"))
      return fault(response, "invalid_grant", "code");
    if (grant.challenge !== verified) return fault(response, "invalid_grant", "code_verifier");
    if (grant.resource !== url || field("resource") !== url) return fault(response, "invalid_target", "resource");
    issue(response, grant);
  }

  const handlers = new Map<string, ReturnType<typeof mcpOf>>();
  async function serveMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { origin } = new URL(url);
    if (request.url === "/.well-known/oauth-protected-resource/mcp")
      return json(response, { resource: url, authorization_servers: [issuer] });
    counts.requests++;
    const body = await text(request);
    const grant = access.get(request.headers.authorization?.replace(/^Bearer /, "") ?? "");
    if (behaviour.refusesAll || !grant || grant.until < Date.now() || grant.resource !== url) {
      counts.refusals++;
      const metadata = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      return void response.writeHead(401, { "www-authenticate": `Bearer ${metadata}` }).end();
    }
    const handler = handlers.get(grant.user) ?? mcpOf(grant.user);
    handlers.set(grant.user, handler);
    const asked = new Request(url, { method: request.method!, headers: headersOf(request), body: body || null });
    const answer = await handler.fetch(asked);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  }

  const authorization = await listen(authorize);
  const resource = await listen(serveMcp);
  const issuer = authorization.origin;
  const url = `${resource.origin}/mcp`;
  return {
    url,
    issuer,
    behaviour,
    counts,
    faults,
    tokensOf: (user) => [...access.values(), ...refresh.values()].filter((grant) => grant.user === user).length,
    revoke(user, what) {
      for (const [token, grant] of access) if (grant.user === user) access.delete(token);
      if (what === "all") for (const [token, grant] of refresh) if (grant.user === user) refresh.delete(token);
    },
    async close() {
      await authorization.close();
      await resource.close();
    },
  };
}

/** What a person does in a browser: signs in as this user there, and comes back with the page that we show. */
export async function signInAs(user: string, address: string): Promise<Response> {
  const first = await fetch(address, { redirect: "manual" });
  const location = first.headers.get("location");
  const back = location?.includes("/authorize?")
    ? await fetch(`${location}&as=${user}`, { redirect: "manual" })
    : first;
  return fetch(back.headers.get("location") ?? "");
}

function mcpOf(user: string) {
  return createMcpHandler(
    () => {
      const mcp = new McpServer({ name: "mail", version: "1" });
      const annotations = { readOnlyHint: true };
      mcp.registerTool(`letters_of_${user}`, { description: "Reads.", annotations }, () => ({
        content: [{ type: "text" as const, text: `letters of ${user}` }],
      }));
      return mcp;
    },
    { legacy: "reject" },
  );
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>) {
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function headersOf({ headers }: IncomingMessage): Headers {
  return new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function random(): string {
  return randomBytes(12).toString("hex");
}
