import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type Configuration,
  customFetch,
  discovery,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from "openid-client";
import { z } from "zod";
import { createGuardedFetch } from "../egress/guarded-fetch.ts";
import { InvalidInput, messageOf, Unavailable } from "../protocol/base/errors.ts";
import { seal, unseal } from "../store/secrets/seal.ts";
import type { User } from "../store/people/users.ts";
import type { OidcUser } from "./log-in-by-oidc.ts";

export type OidcSettings = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** What the button says. */
  readonly label: string;
  readonly scopes: readonly string[];
  readonly nameClaim: string;
  readonly groupsClaim: string;
};

export type OidcTrip = {
  readonly redirectUri: string;
  readonly returnTo: string;
  /** Whose account is to be connected with the person there; absent: theirs is found or made. */
  readonly userId?: string;
};

/** Logging in through an identity provider (OpenID Connect: authorization code, PKCE, state and nonce). */
export type OidcLogin = {
  readonly label: string;
  /** Where the browser goes, and what it keeps meanwhile: sealed, for a cookie. Throws Unavailable. */
  begin(trip: OidcTrip): Promise<{ readonly url: string; readonly kept: string }>;
  /** `url`: with which the browser came back. Throws InvalidInput `sign_in_over`, AccessDenied and Unavailable. */
  finish(back: { readonly url: URL; readonly kept: string | undefined }): Promise<{
    readonly user: User;
    readonly returnTo: string;
  }>;
};

const keptSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  userId: z.string().optional(),
  until: z.number(),
});
const keptFor = "a login through the identity provider";

/** How long a person may take there. */
const tripMs = 10 * 60_000;
const metadataMs = 60 * 60_000;
const timeoutMs = 10_000;
const maxBytes = 1_000_000;

/** `enter` finds or makes the account of whom the provider has vouched for. */
export function createOidcLogin(
  settings: OidcSettings,
  {
    secret,
    enter,
  }: { readonly secret: string; readonly enter: (newcomer: OidcUser, userId?: string) => Promise<User> },
): OidcLogin & { close(): Promise<void> } {
  const issuer = new URL(settings.issuer);
  const web = createGuardedFetch({ origins: [issuer.origin], timeoutMs, maxBytes });
  let known: { readonly until: number; readonly provider: Promise<Configuration> } | undefined;

  /** The provider's metadata, read again from time to time: its keys and addresses change. */
  function provider(): Promise<Configuration> {
    if (known && known.until > performance.now()) return known.provider;
    const found = discovery(issuer, settings.clientId, settings.clientSecret, undefined, {
      [customFetch]: web.fetch,
      // The configuration takes http only of this machine.
      ...(issuer.protocol === "http:" && { execute: [allowInsecureRequests] }),
    });
    const entry = { until: performance.now() + metadataMs, provider: found };
    known = entry;
    found.catch(() => {
      if (known === entry) known = undefined;
    });
    return found;
  }

  async function newcomerOf(back: URL, kept: z.infer<typeof keptSchema>): Promise<OidcUser> {
    const config = await provider();
    const tokens = await authorizationCodeGrant(config, back, {
      pkceCodeVerifier: kept.verifier,
      expectedState: kept.state,
      expectedNonce: kept.nonce,
      idTokenExpected: true,
    });
    const stated = tokens.claims()!;
    const isWhole = settings.nameClaim in stated && settings.groupsClaim in stated;
    const more =
      isWhole || config.serverMetadata().userinfo_endpoint === undefined
        ? {}
        : await fetchUserInfo(config, tokens.access_token, stated.sub);
    const claims: Readonly<Record<string, unknown>> = { ...more, ...stated };
    return {
      issuer: stated.iss,
      subject: stated.sub,
      name: nameOf([claims[settings.nameClaim], claims["email"], stated.sub]),
      groups: textsOf(claims[settings.groupsClaim]),
    };
  }

  return {
    label: settings.label,

    async begin({ redirectUri, ...trip }) {
      const [state, nonce, verifier] = [randomState(), randomNonce(), randomPKCECodeVerifier()];
      const config = await provider().catch((cause: unknown) => {
        throw notThere(settings.label, cause);
      });
      const url = buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: settings.scopes.join(" "),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      const kept = { ...trip, state, nonce, verifier, until: Date.now() + tripMs };
      return { url: url.href, kept: seal(secret, JSON.stringify(kept), keptFor) };
    },

    async finish({ url, kept: cookie }) {
      const text = cookie === undefined ? undefined : unseal(secret, cookie, keptFor);
      const kept = text === undefined ? undefined : keptSchema.parse(JSON.parse(text));
      if (!kept || kept.until < Date.now())
        throw new InvalidInput("This login has expired or was started in another browser. Start again.", {
          code: "sign_in_over",
        });
      const newcomer = await newcomerOf(url, kept).catch((cause: unknown) => {
        throw notThere(settings.label, cause);
      });
      return { user: await enter(newcomer, kept.userId), returnTo: kept.returnTo };
    },

    close: web.close,
  };
}

/** The first that can be a name here, with what may not stand in one left out. */
function nameOf(candidates: readonly unknown[]): string {
  const names = candidates.map((text) =>
    typeof text === "string"
      ? text
          .normalize("NFC")
          .replaceAll(/[^\p{L}\p{N}._@-]+/gu, "-")
          .replace(/^[._@-]+/, "")
          .slice(0, 64)
      : "",
  );
  return names.find((name) => name !== "") ?? "user";
}

function textsOf(claim: unknown): readonly string[] {
  const list = Array.isArray(claim) ? claim : [claim];
  return list.filter((entry) => typeof entry === "string").slice(0, 1000);
}

function notThere(label: string, cause: unknown): Unavailable {
  return new Unavailable(`Login with ${label} failed:  ${messageOf(cause).slice(0, 300)}`, {
    code: "oidc_failed",
    cause,
  });
}
