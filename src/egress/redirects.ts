import { InvalidInput } from "../protocol/base/errors.ts";

/** One request of a chain that redirects make. */
export type RedirectHop<Body> = {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body | null;
};

const redirects = new Set([301, 302, 303, 307, 308]);
/** What goes along to another origin: nothing that tells who asks. */
const harmless = new Set(["accept", "accept-language", "content-type", "user-agent"]);

export function isRedirect(status: number): boolean {
  return redirects.has(status);
}

/** Where it is connected to, said or not. */
export function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === "https:" ? 443 : 80));
}

/** Throws InvalidInput `url_refused`, with no more of the URL than its host. */
export function parseUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (!url) throw new InvalidInput("This is not a URL.", { code: "url_refused" });
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new InvalidInput(`Only http and https are asked, not ${url.protocol}`, { code: "url_refused" });
  if (url.username !== "" || url.password !== "")
    throw new InvalidInput(`The URL of ${url.host} contains credentials; use a header instead.`, {
      code: "url_refused",
    });
  return url;
}

/** The request that an answer with this `Location` asks for. */
export function nextHop<Body>(
  { url: from, method, headers, body }: RedirectHop<Body>,
  status: number,
  location: string,
): RedirectHop<Body> {
  const url = parseUrl(location, from);
  const shown =
    url.origin === from.origin
      ? headers
      : Object.fromEntries(Object.entries(headers).filter(([name]) => harmless.has(name.toLowerCase())));
  const isReading = method === "GET" || method === "HEAD";
  // As browsers do it: 303 is always read, after 301 and 302 a POST becomes a GET.
  if (isReading || status > 303 || (status !== 303 && method !== "POST")) return { url, method, headers: shown, body };
  const { "content-type": _type, ...rest } = lowerCased(shown);
  return { url, method: "GET", headers: rest, body: null };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
