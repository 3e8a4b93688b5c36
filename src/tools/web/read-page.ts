import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { type GuardedAnswer, guardedRequest } from "../../egress/guarded-request.ts";
import { allowedHosts } from "../../egress/allow-proxy.ts";
import type { ResolveHost } from "../../egress/addresses.ts";
import { isRedirect, portOf } from "../../egress/redirects.ts";
import { isThisMachine } from "../../egress/this-machine.ts";
import { ColloquyError, InvalidInput, Unavailable } from "../../protocol/base/errors.ts";
import { parseFile } from "../../knowledge/parse/parse-file.ts";
import type { ParsedFile } from "../../knowledge/parse/parsed.ts";
import { createRateLimiter } from "./rate-limiter.ts";
import { noRules, readRobots, type RobotsRules } from "./robots.ts";
import { webAddress } from "./search-provider.ts";
import { createShortCache } from "./short-cache.ts";

export type WebPage = {
  /** Where it came from, after redirects. */
  readonly url: string;
  readonly title?: string;
  /** Markdown of its article; of other files their text. */
  readonly text: string;
  /** Where its text leads. */
  readonly links: readonly string[];
  /** There is more of it than was taken. */
  readonly cut: boolean;
};

export type PageReaderOptions = {
  /** Whether what a site's robots.txt does not want read is left alone. */
  readonly robots: boolean;
  /** Between two requests to one host. */
  readonly delayMs: number;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly keptMs: number;
  /** Hosts, addresses and ranges that may be read though they are not on the public internet: at 80 and 443, or a port that is named. */
  readonly allow: readonly string[];
  /** Of this very server, which is never read, whatever `allow` says. */
  readonly ownPort?: (() => number) | undefined;
  /** Names under which others reach this server. */
  readonly ownHosts?: readonly string[] | undefined;
  /** Finds the addresses of a name instead of the operating system. */
  readonly resolve?: ResolveHost;
};

/** Reads a page of the web. Throws an error for people and models. */
export type ReadPage = (url: string, signal: AbortSignal) => Promise<WebPage>;

const program = "colloquy";
const userAgent = "Colloquy/0.1 (agent server; reads pages that its users ask about)";
const accept = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5";
const maxRedirects = 5;
/** Pages that are loaded or parsed at the same time: each may be large, and is parsed in a process of its own. */
const maxAtOnce = 6;
const maxText = 300_000;
const maxLinks = 300;
const parsing = { timeoutMs: 30_000, memoryBytes: 512 * 1024 * 1024 };

const maxKept = 200;
const maxKeptCharacters = 30_000_000;
const robotsKeptMs = 60 * 60_000;
const robotsBytes = 500_000;
const robotsTimeoutMs = 10_000;

export function createPageReader(options: PageReaderOptions): ReadPage {
  const { robots, delayMs, timeoutMs, maxBytes, keptMs, ownPort, ownHosts = [], resolve } = options;
  const allowed = allowedHosts(options.allow);
  const refuse = (address: string, port: number) => port === ownPort?.() && isThisMachine(address);
  const inTurn = createRateLimiter({ gapMs: delayMs, atOnce: 2 });
  // Taken when a host's turn has come: a host that wants long pauses keeps nobody from the others.
  const overall = createRateLimiter({ gapMs: 0, atOnce: maxAtOnce });
  const pages = createShortCache<WebPage>({ keptMs, most: maxKept, maxSize: maxKeptCharacters });
  const rulesOfSites = createShortCache<RobotsRules>({ keptMs: robotsKeptMs, most: 1000, maxSize: 10_000_000 });

  /** What is named for the port of this address. */
  function allowAt(url: URL): readonly string[] {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    if (ownHosts.includes(host.replace(/\.$/, "")))
      throw new InvalidInput(`${url.host} leads to this server itself, so it is not asked.`, {
        code: "address_refused",
      });
    return allowed.at(host, portOf(url));
  }

  const guard = { allow: allowAt, refuse, ...(resolve && { resolve }) };

  async function rulesOf({ origin, host }: URL, signal: AbortSignal): Promise<RobotsRules> {
    const known = robots ? rulesOfSites.get(origin) : noRules;
    if (known) return known;
    const headers = { "user-agent": userAgent, "accept-encoding": "identity" };
    const bounds = { ...guard, timeoutMs: robotsTimeoutMs, maxBytes: robotsBytes };
    const answer = await overall("the web", { signal }, () =>
      guardedRequest(`${origin}/robots.txt`, { ...bounds, headers, signal }),
    ).catch((error: unknown) => {
      // So long a file nobody has written to be obeyed.
      if (error instanceof ColloquyError && error.code === "answer_too_large") return { status: 404, body: "" };
      throw error;
    });
    if (answer.status >= 500)
      throw new Unavailable(`${host} currently can't serve its robots.txt (HTTP ${answer.status}).`, {
        code: "robots_unknown",
      });
    const text = answer.status === 200 ? answer.body.toString() : "";
    const rules = readRobots(text, program);
    rulesOfSites.set(origin, rules, text.length + 1);
    return rules;
  }

  /** One request, if it is allowed and when it is its turn: the page, or where it has moved to. */
  async function ask(url: URL, signal: AbortSignal): Promise<WebPage | string> {
    const { allows, delaySeconds } = await rulesOf(url, signal);
    if (!allows(url.pathname + url.search))
      throw new InvalidInput(`${url.host} does not want programs to read this page (robots.txt).`, {
        code: "robots_refused",
      });
    const headers = { accept, "user-agent": userAgent, "accept-encoding": "gzip, br" };
    const gapMs = delaySeconds === undefined ? undefined : delaySeconds * 1000;
    return inTurn(url.host, { signal, gapMs }, () =>
      overall("the web", { signal }, async () => {
        const answer = await guardedRequest(url.href, {
          ...guard,
          ...{ headers, timeoutMs, maxBytes, maxRedirects: 0, signal },
        });
        const { location } = answer.headers;
        if (isRedirect(answer.status) && location !== undefined) return location;
        if (answer.status < 200 || answer.status >= 300)
          throw new Unavailable(`${url.host} answers HTTP ${answer.status}${meaningOf(answer.status)}.`, {
            code: "page_refused",
          });
        // Within the same place, so that no pages pile up that wait to be parsed.
        return readAnswer(answer, { maxBytes, signal });
      }),
    );
  }

  async function load(first: string, signal: AbortSignal): Promise<WebPage> {
    let url = first;
    for (let hops = 0; hops <= maxRedirects; hops++) {
      const found = await ask(new URL(url), signal);
      if (typeof found !== "string") return found;
      const next = URL.parse(found, url);
      const address = next && webAddress(next.href);
      if (!address) throw new InvalidInput(`${new URL(url).host} redirects to an address that is not a web page.`);
      url = address;
    }
    throw new Unavailable(`${new URL(first).host} redirects more than ${maxRedirects} times.`, {
      code: "too_many_redirects",
    });
  }

  return async (given, signal) => {
    const address = webAddress(given);
    if (address === undefined)
      throw new InvalidInput(
        "This is not the address of a web page: it must start with https:// and contain no password.",
      );
    const known = pages.get(address);
    if (known) return known;
    const page = await load(address, signal);
    pages.set(address, page, page.text.length + page.links.join("").length);
    return page;
  };
}

function meaningOf(status: number): string {
  if (status === 404 || status === 410) return ": page not found";
  if (status === 401 || status === 403) return ": the page is not for everybody, or not for programs";
  if (status === 429) return ": it was asked too often";
  return "";
}

async function readAnswer(
  { url, headers, body }: GuardedAnswer,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<WebPage> {
  const { host } = new URL(url);
  const type = String(headers["content-type"] ?? "").toLowerCase();
  const bytes = await unpacked(body, { coding: String(headers["content-encoding"] ?? ""), host, maxBytes });
  const parsed = await parsedInChild(isText(type) ? Buffer.from(decodedText(bytes, type)) : bytes, {
    name: nameOf(type, url),
    signal,
  });
  if (["image", "archive", "binary"].includes(parsed.kind))
    throw new InvalidInput(`${host} returned a file without text (${parsed.mediaType}).`, { code: "no_text" });
  const between = parsed.sections.some(({ page }) => page !== undefined) ? "\n\n" : "\n";
  const whole = parsed.sections.map(({ text }) => text).join(between);
  const { text, links } = withWholeLinks(whole.replaceAll(/\n{3,}/g, "\n\n").trim(), url);
  if (text === "")
    throw new InvalidInput(`The page at ${host} has no text; it may be made by scripts.`, { code: "no_text" });
  const { title } = parsed.metadata;
  return { url, text, links, cut: parsed.cut, ...(typeof title === "string" && title !== "" ? { title } : {}) };
}

/** Nobody has looked at it: it is read by a process that is killed when it takes too much. */
async function parsedInChild(
  bytes: Buffer,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): Promise<ParsedFile> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-page-"));
  try {
    const path = join(folder, "page");
    await writeFile(path, bytes, { mode: 0o600 });
    return await parseFile(path, { name, maxText, whole: true, signal, ...parsing });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const decoders: Readonly<Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** Some servers pack what they were not asked to pack, and a small answer may unpack to a large one. */
async function unpacked(
  body: Buffer,
  { coding, host, maxBytes }: { readonly coding: string; readonly host: string; readonly maxBytes: number },
): Promise<Buffer> {
  const name = coding.trim().toLowerCase();
  if (name === "" || name === "identity" || body.length === 0) return body;
  const decode = decoders[name];
  if (!decode) throw new Unavailable(`${host} uses an unknown content encoding (${name.slice(0, 50)}).`);
  try {
    return await decode(body, { maxOutputLength: maxBytes });
  } catch (cause) {
    const isLarge = cause instanceof Error && "code" in cause && cause.code === "ERR_BUFFER_TOO_LARGE";
    throw new Unavailable(
      isLarge ? `${host} answers with more than ${maxBytes} bytes.` : `The answer of ${host} is damaged.`,
      { code: isLarge ? "answer_too_large" : "answer_damaged", cause },
    );
  }
}

function isText(type: string): boolean {
  return /^text\/|^application\/(xhtml\+xml|json|[\w.+-]*\+json|xml|rss\+xml|atom\+xml)/.test(type);
}

/** By the charset that the header or the page itself names; else as it looks. */
function decodedText(bytes: Buffer, type: string): Buffer | string {
  const inHead = /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]{2,30})/i.exec(bytes.toString("latin1", 0, 2048));
  const label = /charset\s*=\s*"?([\w-]{2,30})/.exec(type)?.[1] ?? inHead?.[1];
  if (label === undefined || /^utf-?8$/i.test(label)) return bytes;
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    // No such charset.
    return bytes;
  }
}

const endings: readonly (readonly [type: RegExp, ending: string])[] = [
  [/html/, "html"],
  [/markdown/, "md"],
  [/json/, "json"],
  [/csv/, "csv"],
  [/^text\/plain/, "txt"],
];

/** What the parser tells texts apart by. */
function nameOf(type: string, url: string): string {
  const ending = endings.find(([pattern]) => pattern.test(type))?.[1];
  return ending === undefined ? (new URL(url).pathname.split("/").at(-1) ?? "") : `page.${ending}`;
}

/** Links of Markdown as whole addresses; what leads to nothing of the web stays as it is. */
function withWholeLinks(text: string, base: string): { readonly text: string; readonly links: readonly string[] } {
  const links = new Set<string>();
  const whole = text.replaceAll(/\]\(<?([^)\s>]{1,2000})>?/g, (found, target: string) => {
    const url = target.startsWith("#") ? null : URL.parse(target, base);
    const address = url && webAddress(url.href);
    if (!address) return found;
    if (links.size < maxLinks) links.add(address);
    return `](${url.href}`;
  });
  return { text: whole, links: [...links] };
}
