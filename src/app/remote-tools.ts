import type { Finding } from "../protocol/people/overview.ts";
import type { Config } from "../config/schema.ts";
import type { HealthDetails } from "../http/server/services.ts";
import type { Log } from "../protocol/base/log.ts";
import type { ToolSettings } from "../protocol/agents/tool-settings.ts";
import type { Tool } from "../protocol/agents/tools.ts";
import { createRemoteTools, type RemoteTools, type RemoteToolsState } from "../tools/remote/remote-tools.ts";
import type { ServerAddress } from "./start/address.ts";
import type { OpenedModels } from "./models.ts";

export const defaultToolsPort = 10_006;

export type OpenToolsServer = {
  /** Undefined: all tools work here. */
  readonly remote: RemoteTools | undefined;
  readonly findings?: () => readonly Finding[];
  readonly health?: () => HealthDetails;
  readonly close?: () => Promise<void>;
};

type RemoteToolsDeps = {
  readonly models: Pick<OpenedModels, "relay">;
  readonly address: Pick<ServerAddress, "url">;
  readonly log: Log;
  /** False: this process calls no tools. */
  readonly runsJobs: boolean;
};

/** Those that work here beside a server of tools: code runs there, or not at all. */
export function withoutSandboxed(tools: readonly Tool[]): readonly Tool[] {
  return tools.filter(({ scope }) => scope !== "sandbox");
}

/** What `colloquy doctor` says of it. One that is away may come back by itself, so it is no trouble. */
function toolsServerFinding({ url, state, reason, tools }: RemoteToolsState): Finding {
  const text = `${url}: ${state}${reason === undefined ? "" : `, ${reason}`}; ${tools} tools`;
  return { grade: state === "failed" ? "note" : "ok", about: "tools", text };
}

/** Models that the configuration names for tools and that are not there. */
export function unknownToolModels({ byName }: ToolSettings, hasModel: (name: string) => boolean): string[] {
  return Object.entries(byName).flatMap(([name, { model }]) =>
    model === undefined || hasModel(model) ? [] : [`tools.${name}.model: model "${model}" not found`],
  );
}

/** The server of tools that the configuration names, if any. */
export function openToolsServer(
  { tools: { host, port, token }, server, workers }: Config,
  { models: { relay }, address, log, runsJobs }: RemoteToolsDeps,
): OpenToolsServer {
  if (!runsJobs || (host === undefined && port === undefined)) return { remote: undefined };
  if (workers > 1)
    log.warn(
      { workers },
      "tools of a tools server that ask models can't with several workers: they must reach the one that called",
    );
  const { origin, hostname } = originOf(host ?? "127.0.0.1", port ?? defaultToolsPort);
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  const remote = createRemoteTools({
    origin,
    token,
    log,
    grantRelay(step) {
      const base = isHere ? address.url() : server.publicUrl;
      return base === undefined ? undefined : { url: `${base}/api/model-relay/v1`, ...relay.grant(step) };
    },
  });
  return {
    remote,
    findings: () => [toolsServerFinding(remote.state())],
    health: () => ({ toolsServer: remote.state() }),
    close: remote.close,
  };
}

function originOf(host: string, port: number): URL {
  const url = new URL(/^https?:\/\//.test(host) ? host : `http://${host}`);
  url.port = String(port);
  return url;
}
