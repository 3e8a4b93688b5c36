import type { Finding } from "../protocol/people/overview.ts";
import type { Config } from "../config/schema.ts";
import type { Log } from "../protocol/base/log.ts";
import type { ToolSettings } from "../protocol/agents/tool-settings.ts";
import type { Tool } from "../protocol/agents/tools.ts";
import type { ModelRelay } from "../tools/core/model-relay.ts";
import { createRemoteTools, type RemoteTools, type RemoteToolsState } from "../tools/remote/remote-tools.ts";

export const defaultToolsPort = 10_006;

export type ToolsServerOptions = {
  readonly relay: ModelRelay;
  /** Where this server listens; asked when a call is made. */
  readonly ownUrl: () => string;
  readonly log: Log;
};

/** Those that work here beside a server of tools: code runs there, or not at all. */
export function withoutSandboxed(tools: readonly Tool[]): readonly Tool[] {
  return tools.filter(({ scope }) => scope !== "sandbox");
}

/** What `colloquy doctor` says of it. One that is away may come back by itself, so it is no trouble. */
export function toolsServerFinding({ url, state, reason, tools }: RemoteToolsState): Finding {
  const text = `${url}: ${state}${reason === undefined ? "" : `, ${reason}`}; ${tools} tools`;
  return { grade: state === "failed" ? "note" : "ok", about: "tools", text };
}

/** Models that the configuration names for tools and that are not there. */
export function strayToolModels({ byName }: ToolSettings, hasModel: (name: string) => boolean): string[] {
  return Object.entries(byName).flatMap(([name, { model }]) =>
    model === undefined || hasModel(model) ? [] : [`tools.${name}.model: there is no model "${model}"`],
  );
}

/** The server of tools that the configuration names; undefined: all tools work here. */
export function openToolsServer(
  { tools: { host, port, token }, server }: Config,
  { relay, ownUrl, log }: ToolsServerOptions,
): RemoteTools | undefined {
  if (host === undefined && port === undefined) return undefined;
  const { origin, hostname } = originOf(host ?? "127.0.0.1", port ?? defaultToolsPort);
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  return createRemoteTools({
    origin,
    token,
    log,
    grantRelay(step) {
      const base = isHere ? ownUrl() : server.publicUrl;
      return base === undefined ? undefined : { url: `${base}/api/model-relay/v1`, ...relay.grant(step) };
    },
  });
}

function originOf(host: string, port: number): URL {
  const url = new URL(/^https?:\/\//.test(host) ? host : `http://${host}`);
  url.port = String(port);
  return url;
}
