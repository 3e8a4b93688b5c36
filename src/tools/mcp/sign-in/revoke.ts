import { selectClientAuthMethod } from "@modelcontextprotocol/client";
import { z } from "zod";
import type { GuardedFetch } from "../../../egress/guarded-fetch.ts";
import { Unavailable } from "../../../protocol/base/errors.ts";
import type { McpLogin } from "./flow.ts";

/** RFC 8414; of OpenID's metadata, too. */
const metadataSchema = z.object({
  revocation_endpoint: z.url().optional(),
  revocation_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
});

/** Whether the server that gave a login has taken it back, and why not. */
export type Revocation = { readonly revoked: boolean; readonly reason?: string };

/**
 * Gives a login's tokens back where they came from (RFC 7009), first the one that makes others. False: the server names no
 * place for that. Throws Unavailable if it refuses.
 */
export async function revoke(
  { metadata, client, tokens }: Pick<McpLogin, "metadata" | "client" | "tokens">,
  fetch: GuardedFetch["fetch"],
): Promise<boolean> {
  const { revocation_endpoint: address, ...ways } = metadataSchema.parse(metadata ?? {});
  if (address === undefined) return false;
  const methods = ways.revocation_endpoint_auth_methods_supported ?? ways.token_endpoint_auth_methods_supported ?? [];
  const method = selectClientAuthMethod(client, methods);
  const { client_id: id, client_secret: secret = "" } = client;
  const basic = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64");
  const given = [
    ["refresh_token", tokens.refresh_token],
    ["access_token", tokens.access_token],
  ] as const;
  for (const [kind, token] of given) {
    if (token === undefined) continue;
    const form = new URLSearchParams({ token, token_type_hint: kind });
    if (method !== "client_secret_basic") form.set("client_id", id);
    if (method === "client_secret_post") form.set("client_secret", secret);
    const response = await fetch(address, {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        accept: "application/json",
        ...(method === "client_secret_basic" ? { authorization: `Basic ${basic}` } : {}),
      },
      body: form.toString(),
      // Another address would get the token.
      redirect: "error",
    });
    await response.body?.cancel();
    if (!response.ok)
      throw new Unavailable(`${new URL(address).host} did not take the ${kind} back (HTTP ${response.status}).`);
  }
  return true;
}
