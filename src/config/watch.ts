import { stat } from "node:fs/promises";
import { loadConfigAgain } from "./load.ts";
import type { Config } from "./schema.ts";
import { messageOf } from "../protocol/base/errors.ts";
import type { Log } from "../protocol/base/log.ts";

export type WatchOptions = {
  readonly log: Log;
  readonly onServers: (changed: Config) => void;
  /** How often the file is looked at; 1 s when absent. */
  readonly intervalMs?: number;
};

/** Taken over while the server runs; what else changes needs a restart. */
const live = "mcpServers";

/**
 * Reads the configuration again when its file changes, and tells of other servers of tools. A file with faults changes
 * nothing, and may be half written. The file is looked at instead of waited for, which works for every editor, for links
 * that are exchanged, and over networks. Returns what ends it.
 */
export function watchConfig(config: Config, { log, onServers, intervalMs = 1000 }: WatchOptions): () => void {
  const { file } = config;
  if (file === undefined) return () => {};
  let before = partsOf(config);
  const look = (isFirst: boolean) => {
    try {
      const changed = loadConfigAgain(config);
      const now = partsOf(changed);
      const keys = [...now.keys()].filter((key) => now.get(key) !== before.get(key));
      before = now;
      const others = keys.filter((key) => key !== live);
      // At first they may differ by what the command itself has set.
      if (!isFirst && others.length > 0)
        log.warn({ file, keys: others }, "these settings have changed; they need a restart");
      if (!keys.includes(live)) return;
      log.info({ file }, "the MCP servers in the configuration have changed");
      onServers(changed);
    } catch (error) {
      log.warn({ file, reason: messageOf(error) }, "could not apply the changed configuration");
    }
  };
  // The first look counts as a change: the file may have become another one since it was loaded.
  let seen: string | undefined;
  let looking = false;
  let stopped = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    void stampOf(file).then((stamp) => {
      looking = false;
      if (stamp === seen || stopped) return;
      const isFirst = seen === undefined;
      seen = stamp;
      look(isFirst);
    });
  }, intervalMs).unref();
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}

/** What is another one after every write, rename or exchange of a link; the same again while the file is gone. */
async function stampOf(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(file);
    return `${ino} ${mtimeMs} ${size}`;
  } catch {
    return "";
  }
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
