import { stat } from "node:fs/promises";
import { loadConfigAgain } from "./load.ts";
import type { Config } from "./schema.ts";
import { messageOf } from "../protocol/base/errors.ts";
import type { Log } from "../protocol/base/log.ts";

export type WatchOptions = {
  readonly log: Log;
  readonly onServers: (changed: Config) => void;
  /** Polling interval in milliseconds; default 1000. */
  readonly intervalMs?: number;
};

/** Sections that can change while the server runs; others need a restart. */
const live = "mcpServers";

/**
 * Reloads the configuration when its file changes, and reports changed MCP servers. A file with errors changes
 * nothing, since it may be half written. Polling works with every editor, with replaced
 * links, and over networks. Returns a function that stops it.
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

/** Returns a mark that changes with every write, rename or replaced link, and stays the same while the file is missing. */
async function stampOf(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(file);
    return `${ino} ${mtimeMs} ${size}`;
  } catch {
    return "";
  }
}

/** Serializes each section, for comparison. */
function partsOf({
  file: _file,
  source: _source,
  absent: _absent,
  seenKeys: _seenKeys,
  ...settings
}: Config): Map<string, string> {
  return new Map(Object.entries(settings).map(([key, value]) => [key, JSON.stringify(value)]));
}
