import type { RouteOptions } from "fastify";
import { type JsonBounds, longJson, usualJson } from "../../protocol/base/json-bounds.ts";
import type { Endpoint } from "./endpoint.ts";

type EndpointInput = Pick<
  Endpoint,
  "body" | "open" | "admit" | "takesLong" | "takesForm" | "keepsNumbers" | "takesBody"
>;

/** What the body of one route may be, before anything is made of it. */
export type BodyBounds = JsonBounds & { readonly bytes: number };

const kilobytes = 1024;
const megabytes = 1024 * kilobytes;

/** Of who has not said who they are, and of routes that take no body. */
const fewBytes = 16 * kilobytes;
/** More than any definition, and than a hundred pages of text. */
const usualBytes = megabytes;
/** Where the configuration says nothing: room for pictures. */
const mostBytes = 10 * megabytes;

/** `configured`: what the route that takes most may take. */
export function boundsOf(endpoint: EndpointInput, configured = mostBytes): BodyBounds {
  const { body, open, admit, takesLong = false, keepsNumbers = false } = endpoint;
  // Whose numbers are kept costs several times as much for each of them.
  const json = takesLong && !keepsNumbers ? longJson : usualJson;
  const isUnproven = open !== undefined && admit === undefined;
  const bytes = body === undefined || isUnproven ? fewBytes : takesLong ? configured : usualBytes;
  return { ...json, bytes: Math.min(bytes, configured) };
}

/** Where a route has none, as the answer to an unknown path. */
export const fewBounds: BodyBounds = { ...usualJson, bytes: fewBytes };

/** What Fastify is told of a route, for those who read its body. */
export type RouteConfig = {
  readonly bounds?: BodyBounds;
  readonly takesForm?: boolean;
  readonly keepsNumbers?: boolean;
  readonly takesFile?: boolean;
};

export function configOf({ routeOptions }: { readonly routeOptions: { readonly config?: unknown } }): RouteConfig {
  return (routeOptions.config ?? {}) as RouteConfig;
}

/** What every server of ours tells Fastify of an endpoint's body. */
export function bodyOptions(endpoint: EndpointInput, configured?: number): Pick<RouteOptions, "bodyLimit" | "config"> {
  const bounds = boundsOf(endpoint, configured);
  const { takesForm = false, keepsNumbers = false, takesBody } = endpoint;
  const config: RouteConfig = { bounds, takesForm, keepsNumbers, takesFile: takesBody !== undefined };
  return { bodyLimit: bounds.bytes, config: config as NonNullable<RouteOptions["config"]> };
}
