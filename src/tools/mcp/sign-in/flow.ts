import {
  auth,
  type AuthorizationServerMetadata,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthTokens,
  refreshAuthorization,
  type StoredOAuthClientInformation,
} from "@modelcontextprotocol/client";
import type { GuardedFetch } from "../../../egress/guarded-fetch.ts";
import { Unavailable } from "../../../protocol/base/errors.ts";
import type { OAuthConfig } from "../../../protocol/agents/mcp-servers.ts";

type Fetch = GuardedFetch["fetch"];

/** Who may sign people in, as whom we come there, and for what. */
type Grantor = {
  readonly server: string;
  readonly metadata: AuthorizationServerMetadata | undefined;
  readonly client: StoredOAuthClientInformation;
  readonly resource: string | undefined;
};
/** A sign-in that waits for a person to come back with a code. */
export type PendingSignIn = Grantor & { readonly verifier: string; readonly redirectUrl: string };
export type McpLogin = Grantor & {
  readonly tokens: OAuthTokens;
  /** In milliseconds; absent: the server does not say. */
  readonly expiresAt?: number;
};

export type SignInOptions = {
  readonly url: string;
  readonly config: OAuthConfig;
  readonly fetch: Fetch;
  /** Where browsers reach this server. */
  readonly base: string;
  readonly state: string;
  /** Scopes that a call was refused for. */
  readonly scope?: string | undefined;
};

const callbackPath = "/api/mcp/callback";
const clientPath = "/api/mcp/client.json";

/** What an authorization server is told of us. */
export function clientMetadataOf(base: string): OAuthClientMetadata {
  return {
    client_name: "Colloquy",
    redirect_uris: [`${base}${callbackPath}`],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
}

/** Finds out where people sign in, registers there if need be, and gives the address that a person must open. */
export async function beginSignIn(
  options: SignInOptions,
): Promise<{ readonly url: string; readonly begun: PendingSignIn }> {
  const { url, config, fetch, base, state } = options;
  const { clientId, clientSecret, scopes, issuer } = config;
  const redirectUrl = `${base}${callbackPath}`;
  const challenge = await challengeOf(url, fetch);
  let client: StoredOAuthClientInformation | undefined =
    clientId === undefined ? undefined : { client_id: clientId, client_secret: clientSecret };
  let verifier = "";
  let found: Pick<PendingSignIn, "server" | "metadata"> | undefined;
  let resource: string | undefined;
  let address: URL | undefined;
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: clientMetadataOf(base),
    ...(base.startsWith("https:") ? { clientMetadataUrl: `${base}${clientPath}` } : {}),
    state: () => state,
    clientInformation: () => client,
    ...(clientId === undefined ? { saveClientInformation: (registered) => void (client = registered) } : {}),
    // Whoever signs in wants other tokens than those that there may be.
    tokens: () => undefined,
    saveTokens: () => {},
    saveCodeVerifier: (text) => void (verifier = text),
    codeVerifier: () => verifier,
    saveResourceUrl: (text) => void (resource = text),
    saveDiscoveryState({ authorizationServerUrl, authorizationServerMetadata: metadata }) {
      const named = metadata?.issuer ?? authorizationServerUrl;
      if (issuer !== undefined && withoutSlash(named) !== withoutSlash(issuer))
        throw new Unavailable(`${new URL(url).host} wants its users to sign in at ${named}, not at ${issuer}.`);
      found = { server: authorizationServerUrl, metadata };
    },
    redirectToAuthorization: (to) => void (address = to),
  };
  const scope = scopes?.join(" ") ?? options.scope ?? challenge.scope;
  await auth(provider, {
    serverUrl: url,
    fetchFn: fetch,
    ...(scope === undefined ? {} : { scope }),
    ...(challenge.resourceMetadataUrl ? { resourceMetadataUrl: challenge.resourceMetadataUrl } : {}),
  });
  if (!address || !found || !client) throw new Unavailable(`${new URL(url).host} says of no place to sign in.`);
  return { url: address.href, begun: { ...found, client, resource, verifier, redirectUrl } };
}

/** The code that a person came back with, for tokens. Throws if it came from another server than it was asked of. */
export async function finishSignIn(
  begun: PendingSignIn,
  { code, iss, fetch }: { readonly code: string; readonly iss?: string | undefined; readonly fetch: Fetch },
): Promise<McpLogin> {
  const { verifier, redirectUrl, ...grantor } = begun;
  const tokens = await exchangeAuthorization(grantor.server, {
    ...partsOf(grantor),
    authorizationCode: code,
    codeVerifier: verifier,
    redirectUri: redirectUrl,
    fetchFn: fetch,
    ...(iss === undefined ? {} : { iss }),
  });
  return loginOf(grantor, tokens);
}

/** New tokens without a person. Throws OAuthError `invalid_grant` if there are none to be had any more. */
export async function renew({ tokens, ...grantor }: McpLogin, fetch: Fetch): Promise<McpLogin> {
  const renewed = await refreshAuthorization(grantor.server, {
    ...partsOf(grantor),
    refreshToken: tokens.refresh_token ?? "",
    fetchFn: fetch,
  });
  return loginOf(grantor, { ...renewed, scope: renewed.scope ?? tokens.scope });
}

/** As it was kept; ours since it was sealed by us. */
export function loginIn(text: string | undefined): McpLogin | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as McpLogin);
}

function loginOf({ server, metadata, client, resource }: Grantor, tokens: OAuthTokens): McpLogin {
  return {
    server,
    metadata,
    client,
    resource,
    tokens,
    ...(tokens.expires_in === undefined ? {} : { expiresAt: Date.now() + tokens.expires_in * 1000 }),
  };
}

function partsOf({ metadata, client, resource }: Grantor) {
  return {
    clientInformation: client,
    ...(metadata ? { metadata } : {}),
    ...(resource === undefined ? {} : { resource }),
  };
}

/** What the server says to somebody who is not signed in: where its own description is, and what to ask for. */
async function challengeOf(url: string, fetch: Fetch) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  await response.body?.cancel();
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { resourceMetadataUrl, scope };
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, "");
}
