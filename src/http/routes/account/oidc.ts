import { z } from "zod";
import { NotFound } from "../../../protocol/base/errors.ts";
import { cookieHeader, readCookie } from "../../server/cookies.ts";
import type { OidcLogin } from "../../../people/oidc.ts";
import { accountsOf, visitorOf } from "../../requests/visitor.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { baseOf, publicAddressOf } from "../../server/origins.ts";
import type { Services } from "../../server/services.ts";
import { sessionCookieOf } from "./auth.ts";

const tripCookie = "colloquy_trip";
const tripSeconds = 600;
const path = "/api/auth/oidc";

/** A place of this server, never another one: `//elsewhere` would be. */
const returnTo = z
  .string()
  .max(500)
  .regex(/^\/(?![/\\])[^\s\\]*$/, "a path such as /docs")
  .default("/");

export const beginOidc = endpoint({
  needs: "nothing",
  tag: "accounts",
  summary: "Log in through the identity provider: sends the browser there",
  open: () => true,
  query: z.object({ return: returnTo }),
  answers: { 302: z.null() },
  async handle(call) {
    const { url } = await begin(call, { returnTo: call.query.return });
    return call.reply.redirect(url);
  },
});

export const connectOidc = endpoint({
  needs: "account",
  tag: "accounts",
  summary: "Connect your account with you at the identity provider",
  description: "Send the browser to `url`; it comes back logged in, and can log in so from then on.",
  body: z.strictObject({ return: returnTo }).nullish(),
  answers: { 200: z.object({ url: z.string() }) },
  handle(call) {
    return begin(call, { returnTo: call.body?.return ?? "/", userId: call.caller.userId });
  },
});

export const finishOidc = endpoint({
  needs: "nothing",
  tag: "accounts",
  summary: "Where the identity provider sends the browser back to",
  open: () => true,
  answers: { 302: z.null() },
  async handle(call) {
    const { request, reply, services } = call;
    const url = new URL(`${baseOf(request)}${request.url}`);
    const kept = readCookie(request.headers.cookie, tripCookie);
    const { user, returnTo: page } = await oidcOf(services).finish({ url, kept });
    const { token, expiresAt } = await accountsOf(services).begin(user, visitorOf(call));
    const seconds = Math.round((expiresAt.getTime() - Date.now()) / 1000);
    reply.header("set-cookie", [sessionCookieOf(call, token, seconds), tripCookieOf(call, "", 0)]);
    return reply.redirect(`${publicAddressOf(request).basePath ?? ""}${page}`);
  },
});

async function begin(call: EndpointCall, trip: { readonly returnTo: string; readonly userId?: string }) {
  const redirectUri = `${baseOf(call.request)}${path}/callback`;
  const { url, kept } = await oidcOf(call.services).begin({ ...trip, redirectUri });
  call.reply.header("set-cookie", tripCookieOf(call, kept, tripSeconds));
  return { url };
}

function tripCookieOf({ request }: Pick<EndpointCall, "request">, value: string, maxAgeSeconds: number): string {
  const { basePath = "", publicUrl } = publicAddressOf(request);
  const secure = request.protocol === "https" || publicUrl?.startsWith("https:") === true;
  return cookieHeader(tripCookie, value, { path: `${basePath}${path}`, secure, maxAgeSeconds });
}

function oidcOf(services: Services): OidcLogin {
  const { oidc } = accountsOf(services);
  if (!oidc) throw new NotFound("This server has no identity provider (auth.oidc).", { code: "no_oidc" });
  return oidc;
}
