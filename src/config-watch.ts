import { unwatchFile, watchFile } from "node:fs";
import { type Config, loadConfig } from "./config.ts";
import type { Environment } from "./config-tree.ts";
import { messageOf } from "./protocol/errors.ts";
import type { Log } from "./protocol/log.ts";
import type { McpServersConfig } from "./protocol/mcp-servers.ts";

export type WatchOptions = {
  readonly log: Log;
  readonly onServers: (servers: McpServersConfig) => void;
  /** How often the file is looked at; 1 s when absent. */
  readonly intervalMs?: number;
  readonly env?: Environment;
  readonly cwd?: string;
};

/** Taken over while the server runs; what else changes needs a restart. */
const live = "mcpServers";

/**
 * Reads the configuration again when its file changes, and tells of other servers of tools. A file with faults changes
 * nothing, and may be half written. The file is looked at instead of waited for, which works for every editor, for links
 * that are exchanged, and over networks. Returns what ends it.
 */
export function watchConfig(config: Config, { log, onServers, intervalMs = 1000, env, cwd }: WatchOptions): () => void {
  const { file } = config;
  if (file === undefined) return () => {};
  let before = partsOf(config);
  const look = () => {
    try {
      const changed = loadConfig({ ...(env ? { env } : {}), ...(cwd === undefined ? {} : { cwd }) });
      const now = partsOf(changed);
      const keys = [...now.keys()].filter((key) => now.get(key) !== before.get(key));
      before = now;
      const others = keys.filter((key) => key !== live);
      if (others.length > 0) log.warn({ file, keys: others }, "these settings have changed; they need a restart");
      if (!keys.includes(live)) return;
      log.info({ file }, "the MCP servers in the configuration have changed");
      onServers(changed.mcpServers);
    } catch (error) {
      log.warn({ file, reason: messageOf(error) }, "the changed configuration is not taken over");
    }
  };
  watchFile(file, { interval: intervalMs, persistent: false }, look);
  return () => unwatchFile(file, look);
}

/** Each section as text. */
function partsOf({
  file: _file,
  source: _source,
  absent: _absent,
  seenKeys: _seenKeys,
  ...settings
}: Config): Map<string, string> {
  return new Map(Object.entries(settings).map(([key, value]) => [key, JSON.stringify(value)]));
}
