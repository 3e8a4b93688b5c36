import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, isIP } from "node:net";
import type { Duplex, Readable, Writable } from "node:stream";
import { messageOf } from "../protocol/base/errors.ts";
import { addressesOf, lookupOf, type ResolveHost, rangesOf } from "./addresses.ts";

export type AllowProxyOptions = {
  /** As `allowedHosts` reads them. A name must lie on the public internet, unless its address is listed too. */
  readonly allow: readonly string[];
  /** The path of a unix socket that is not there yet; `close` removes it. */
  readonly socket: string;
  /** Of one tunnel or request with its answer; 1 GB when absent. */
  readonly maxBytes?: number;
  /** Of one tunnel or request with its answer; 10 minutes when absent. */
  readonly timeoutMs?: number;
  /** Of all clients together; 256 when absent. */
  readonly maxConnections?: number;
  /** Finds the addresses of a name instead of the operating system. */
  readonly resolve?: ResolveHost;
};

export type AllowProxy = { readonly socket: string; readonly close: () => Promise<void> };

type ProxyLimits = { readonly maxBytes: number; readonly timeoutMs: number };
type ProxyRoute = { readonly host: string; readonly port: number; readonly lookup: ReturnType<typeof lookupOf> };
type FindRoute = (url: URL | null) => Promise<ProxyRoute>;

const idleMs = 60_000;
const notListed =
  "is not listed in sandbox.network.allow; sandboxed commands can reach only hosts that are listed there.";
/** What is meant for one connection alone. */
const ofOneHop = /^(connection|keep-alive|proxy-.+|te|trailer|upgrade|http2-settings|expect)$/;

/**
 * An HTTP proxy that leads to the listed hosts alone: `CONNECT` for https, whole URLs for http. A name is resolved once
 * for each connection and what it resolves to is checked, so a name that changes its mind leads nowhere else.
 */
export async function openAllowProxy(options: AllowProxyOptions): Promise<AllowProxy> {
  const { allow, socket, resolve, maxBytes = 1024 ** 3, timeoutMs = 600_000, maxConnections = 256 } = options;
  const bounds = { maxBytes, timeoutMs };
  const allowed = allowedHosts(allow);
  const find: FindRoute = (url) => routeTo(url, { allowed, resolve });
  const clients = new Set<Duplex>();
  const server = createServer({ headersTimeout: 10_000 });
  server.maxConnections = maxConnections;
  server.on("connection", (client) => {
    clients.add(client);
    client.once("close", () => clients.delete(client));
  });
  server.on("request", (incoming, response) => void forward(incoming, response, { find, bounds }));
  server.on("connect", (incoming, client, head) => {
    const url = URL.parse(`http://${incoming.url}`);
    void tunnel(client, head, { route: () => find(url), bounds });
  });
  // Of this process alone: among workers Node.js would share it, and can't open it for all then.
  server.listen({ path: socket, writableAll: true, exclusive: true });
  await once(server, "listening");
  return {
    socket,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const client of clients) client.destroy();
      await closed;
    },
  };
}

/** Why a request is not passed on, as its answer tells it. */
class ProxyRefusal extends Error {
  readonly status: 400 | 403 | 502;

  constructor(status: ProxyRefusal["status"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

async function routeTo(
  url: URL | null,
  { allowed, resolve }: { readonly allowed: AllowedHosts; readonly resolve: ResolveHost | undefined },
): Promise<ProxyRoute> {
  if (url?.protocol !== "http:" || url.username !== "" || url.password !== "")
    throw new ProxyRefusal(
      400,
      "This is a proxy: it takes CONNECT for https and whole URLs, without credentials, for http.",
    );
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const port = Number(url.port || 80);
  if (!allowed.has(host, port)) throw new ProxyRefusal(403, `${host}:${port} ${notListed}`);
  try {
    return { host, port, lookup: lookupOf(await addressesOf(host, { allow: allowed.addresses(port), resolve })) };
  } catch (cause) {
    const isRefused = cause instanceof Error && "code" in cause && cause.code === "address_refused";
    throw isRefused
      ? new ProxyRefusal(403, `${host} is on a private network, and its address ${notListed}`, { cause })
      : new ProxyRefusal(502, messageOf(cause), { cause });
  }
}

async function tunnel(
  client: Duplex,
  head: Buffer,
  { route, bounds }: { readonly route: () => Promise<ProxyRoute>; readonly bounds: ProxyLimits },
): Promise<void> {
  client.on("error", () => {});
  try {
    const upstream = connect({ ...(await route()), allowHalfOpen: true });
    upstream.setTimeout(idleMs, () => upstream.destroy(new Error("no answer in time")));
    const count = bound(client, upstream, bounds);
    await once(upstream, "connect");
    upstream.once("close", () => client.destroy());
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    upstream.write(head);
    count(client.pipe(upstream));
    count(upstream.pipe(client));
  } catch (error) {
    const { status, reason, text } = refusalOf(error);
    const headers = `content-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close`;
    client.end(`HTTP/1.1 ${status} ${reason}\r\n${headers}\r\n\r\n${text}`);
  }
}

async function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  { find, bounds }: { readonly find: FindRoute; readonly bounds: ProxyLimits },
): Promise<void> {
  const url = URL.parse(incoming.url ?? "");
  try {
    const route = await find(url);
    const { method, headers } = incoming;
    const path = `${url!.pathname}${url!.search}`;
    const sent = { ...passedOn(headers), host: url!.host };
    const upstream = request({ ...route, path, method, headers: sent, agent: false, setHost: false });
    upstream.setTimeout(idleMs, () => upstream.destroy(new Error("no answer in time")));
    const count = bound(response, upstream, bounds);
    count(incoming).pipe(upstream);
    const [answer] = (await once(upstream, "response")) as [IncomingMessage];
    // How the answer is framed on the way to the client is decided anew.
    const { "transfer-encoding": _, ...told } = passedOn(answer.headers);
    response.writeHead(answer.statusCode ?? 502, told);
    answer.once("close", () => answer.complete || response.destroy());
    count(answer).pipe(response);
  } catch (error) {
    const { status, reason, text } = refusalOf(error);
    if (response.headersSent) response.destroy();
    else response.writeHead(status, reason, { "content-type": "text/plain", connection: "close" }).end(text);
  }
}

/** Ends both sides when one ends, at the time's end, or when what is counted becomes too much. */
function bound(
  client: Writable,
  upstream: Writable,
  { maxBytes, timeoutMs }: ProxyLimits,
): <Stream extends Readable>(stream: Stream) => Stream {
  const end = () => {
    client.destroy();
    upstream.destroy();
  };
  // Whoever waits for an answer hears of an error by that; afterwards the end of the stream tells enough.
  for (const stream of [client, upstream]) stream.on("error", () => {});
  const timer = setTimeout(end, timeoutMs);
  client.once("close", () => {
    clearTimeout(timer);
    upstream.destroy();
  });
  let bytes = 0;
  return (stream) =>
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) end();
    });
}

function passedOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = (headers.connection ?? "").toLowerCase().split(/[\s,]+/);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofOneHop.test(name) && !named.includes(name)));
}

function refusalOf(error: unknown): { readonly status: number; readonly reason: string; readonly text: string } {
  const status = error instanceof ProxyRefusal ? error.status : 502;
  // Many clients show the reason alone when a tunnel is refused.
  const reason =
    status === 403 ? "Not listed in sandbox.network.allow" : status === 400 ? "Bad Request" : "Bad Gateway";
  return { status, reason, text: `${messageOf(error)}\n` };
}

type AllowedHosts = {
  has(host: string, port: number): boolean;
  /** The entries for this port that are addresses or ranges: only they open what is not on the public internet. */
  addresses(port: number): readonly string[];
  /** These, and the host itself if it is named: what such a name resolves to is taken, whatever it is. */
  at(host: string, port: number): readonly string[];
};

type AllowedHost = { readonly host: string; readonly ports: readonly number[] };

const usualPorts = [80, 443];

/**
 * Entries are `pypi.org` (exactly that), `*.example.org` (all below it, not itself), an address or a range
 * (`10.1.0.0/16`), each for the ports 80 and 443 unless it names one: `pypi.org:8443`, `[::1]:8080`.
 */
export function allowedHosts(entries: readonly string[]): AllowedHosts {
  const parsed = entries.map(parse);
  const names = parsed.filter(({ host }) => isIP(host.split("/")[0]!) === 0);
  const ranges = parsed
    .filter((entry) => !names.includes(entry))
    .map(({ host, ports }) => ({ range: rangesOf([host]), host, ports }));
  const hasName = (host: string, port: number) =>
    isIP(host) === 0 && names.some((entry) => entry.ports.includes(port) && isNamed(host, entry.host));
  const addresses = (port: number) => ranges.filter(({ ports }) => ports.includes(port)).map(({ host }) => host);
  return {
    has: (host, port) =>
      hasName(host, port) || ranges.some(({ range, ports }) => ports.includes(port) && range.has(host)),
    addresses,
    at: (host, port) => [...addresses(port), ...(hasName(host, port) ? [host] : [])],
  };
}

function isNamed(host: string, name: string): boolean {
  return name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name;
}

function parse(entry: string): AllowedHost {
  // A bare IPv6 address has colons of its own; with a port it stands in brackets.
  const [, bracketed, name, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [undefined, undefined, entry];
  const host = (bracketed ?? name ?? entry).toLowerCase().replace(/\.$/, "");
  return { host, ports: port === undefined ? usualPorts : [Number(port)] };
}
