import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";

/** What the provider says of a person. */
export type Person = { preferred_username?: string; email?: string; groups?: string[] };

export type IdentityProvider = {
  readonly issuer: string;
  /** By the name that is typed at its login page. */
  readonly people: Map<string, Person>;
  /** Where it sends people back to. */
  allow(redirectUri: string): void;
  close(): Promise<void>;
};

export const clientId = "colloquy";
export const clientSecret = "a secret of the test's client";

/** A real OpenID provider on loopback, with a login page that takes any password; it demands PKCE. */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, Person>();
  const redirectUris = [`${issuer}/unused`];
  const provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: redirectUris }],
    claims: { openid: ["sub"], profile: ["preferred_username"], email: ["email"], groups: ["groups"] },
    pkce: { required: () => true },
    cookies: { keys: ["a key of tests"] },
    features: { devInteractions: { enabled: true } },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, ...people.get(id) }),
    }),
  });
  // The server under test is given this address first, and has one of its own only then.
  provider.Client.prototype.redirectUriAllowed = (uri) => redirectUris.includes(uri);
  server.on("request", provider.callback());
  return {
    issuer,
    people,
    allow: (uri) => void redirectUris.push(uri),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A browser as far as logging in needs one: it follows redirects, keeps cookies and fills in forms. */
export function browser() {
  const jar = new Map<string, Map<string, string>>();

  async function ask(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url);
    const cookies = jar.get(host) ?? new Map<string, string>();
    jar.set(host, cookies);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { ...init, redirect: "manual", headers: { ...init.headers, cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  }

  /** Until there is no redirect any more, or one that leads where it is to stop; resolves to the last address too. */
  async function follow(url: string, options: { readonly stopAt?: string; readonly init?: RequestInit } = {}) {
    let response = await ask(url, options.init);
    let at = url;
    for (let hops = 0; hops < 20; hops++) {
      const location = response.headers.get("location");
      if (location === null) return { response, at };
      at = new URL(location, at).href;
      if (options.stopAt !== undefined && at.startsWith(options.stopAt)) return { response, at };
      response = await ask(at);
    }
    throw new Error(`too many redirects, the last to ${at}`);
  }

  /** Fills in the pages of the provider until it sends the browser away. */
  async function logInAs(name: string, begin: string, stopAt: string) {
    let { response, at } = await follow(begin, { stopAt });
    for (let pages = 0; pages < 3 && !at.startsWith(stopAt) && response.ok; pages++) {
      const page = await response.text();
      const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
      const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1];
      if (action === undefined || prompt === undefined) throw new Error(`no form at ${at}: ${page.slice(0, 300)}`);
      const body = new URLSearchParams({ prompt, ...(prompt === "login" && { login: name, password: "any" }) });
      ({ response, at } = await follow(new URL(action, at).href, { stopAt, init: { method: "POST", body } }));
    }
    return at;
  }

  return { ask, follow, logInAs, cookies: (host: string) => jar.get(host) ?? new Map<string, string>() };
}
