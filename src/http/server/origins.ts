import { isIPv4 } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AccessDenied } from "../../protocol/base/errors.ts";
import type { ServerSettings } from "./services.ts";

/** Who may be asked for (Host), and from which pages (Origin). */
export type OriginRules = {
  /** Pages that may ask at this path, besides our own. */
  readonly originsAt: (path: string) => readonly string[];
  readonly hosts: readonly string[];
  /** The ports we listen on, the main one first; none while we don't. */
  readonly ports: () => readonly number[];
};

/**
 * Local mode has no login, so a page of another site must not reach it: not by a name that it points at
 * loopback (DNS rebinding: Host), and not by a form or fetch from the owner's browser (CSRF: Origin).
 */
export function checkLocalOrigin(request: FastifyRequest, rules: OriginRules): void {
  const { host = "", origin } = request.headers;
  if (!isOwnHost(request, rules)) throw new AccessDenied(403, whyNot(host, rules), { code: "host_refused" });
  if (origin !== undefined && !isOwnOrigin(request) && !rules.originsAt(request.url).includes(origin))
    throw new AccessDenied(403, `The origin ${origin} is not allowed; add it to server.corsOrigins.`, {
      code: "origin_refused",
    });
}

/** Where a server listens, `more` too; none while it doesn't. */
export function portsOf({ server }: Pick<FastifyInstance, "server">, more?: number): readonly number[] {
  const address = server.address();
  if (typeof address === "string" || address === null) return [];
  return more === undefined ? [address.port] : [address.port, more];
}

/** Where the page of an orchestrator's frontend, a chat widget or a model's client asks, and nothing is looked up or changed. */
const askingPaths =
  /^\/(health|chat|chat\/[^/]+\/stream|chatkit|chatkit\/[^/]+\/items|agent\/(run|run\/[^/]+|tools)|v1\/(chat\/completions|completions|embeddings|messages|messages\/count_tokens|models|models\/.+)|api\/(chat|generate|tags|show|ps|version|embed|embeddings))\/?$/;

/** Which pages may ask where: those that are configured everywhere, what is the default only where one asks. */
export function originsAt({
  corsOrigins,
  corsPaths = "all",
}: Pick<ServerSettings, "corsOrigins" | "corsPaths">): OriginRules["originsAt"] {
  return (url) => (corsPaths === "all" || askingPaths.test(url.split("?", 1)[0] ?? "") ? corsOrigins : []);
}

/** Whether the request comes from no page at all, or from one that this server gave out. */
export function isOwnOrigin(request: FastifyRequest): boolean {
  const { host } = request;
  const { origin } = request.headers;
  return [undefined, `http://${host}`, `https://${host}`, publicAddressOf(request).publicUrl].includes(origin);
}

/** Where browsers reach this server, without a slash at the end; as the client says, unless it is configured. */
export function baseOf(request: FastifyRequest): string {
  const { publicUrl, basePath = "" } = publicAddressOf(request);
  // A host that is none is left out.
  const own = /^[\w.:[\]-]{1,255}$/.test(request.host) ? `${request.protocol}://${request.host}` : "";
  return `${publicUrl ?? own}${basePath}`;
}

/** Name of the decorator on a server's app, for code that has only a request. */
export const placeDecorator = "place";

export function publicAddressOf({ server }: FastifyRequest): Pick<ServerSettings, "publicUrl" | "basePath"> {
  return server.hasDecorator(placeDecorator) ? server.getDecorator(placeDecorator) : {};
}

/** Whether a Host header names this machine itself. */
export function isLoopbackHost(host: string | undefined): boolean {
  return isLoopback((host ?? "").toLowerCase().replace(/:\d{1,5}$/, ""));
}

function isOwnHost({ headers }: FastifyRequest, rules: OriginRules): boolean {
  const { host = "", origin, "sec-fetch-site": site } = headers;
  if (rules.hosts.includes(host)) return true;
  const match = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(host.toLowerCase());
  if (!match) return false;
  const [, name = "", port] = match;
  if (rules.hosts.includes(name)) return true;
  if (!isLoopback(name)) return false;
  const ports = rules.ports();
  // A program may leave the port out. A browser doesn't, but for a page of port 80, which something else leads here.
  const isOfPage = origin !== undefined || site !== undefined;
  return ports.length === 0 || (port === undefined && !isOfPage) || ports.includes(Number(port ?? 80));
}

function whyNot(host: string, { ports }: OriginRules): string {
  const shown = JSON.stringify(host);
  if (!isLoopbackHost(host))
    return `This server answers to localhost only, not to ${shown}; list other names in server.hosts.`;
  return (
    `This server listens on port ${ports().join(" and ")}, and was asked for as ${shown}. ` +
    "If a tunnel or a proxy leads here by that name, list it in server.hosts."
  );
}

function isLoopback(name: string): boolean {
  return name === "localhost" || name === "[::1]" || (isIPv4(name) && name.startsWith("127."));
}

/** A path as the routes know it, whether or not the proxy has taken the base path away. */
export function withoutBase(url: string, base: string | undefined): string {
  if (!base || !url.startsWith(base)) return url;
  const rest = url.slice(base.length);
  return /^[/?]|^$/.test(rest) ? rest.replace(/^(?=\?|$)/, "/") : url;
}

/** The path without its query, which may hold what a log must not. */
export function pathOf(request: FastifyRequest): string {
  const { url } = request;
  const end = url.indexOf("?");
  return end === -1 ? url : url.slice(0, end);
}
