import { createHash, randomBytes } from "node:crypto";
import { messageOf } from "../../protocol/base/errors.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Database } from "../driver/database.ts";

/** Counts that the nodes of one database share, without a round trip per count. */
export type SharedCounts = {
  add(name: string): void;
  /** Calls back with counts that other nodes added, at most a second later. The names themselves are not sent. */
  hear(listener: (key: string, count: number) => void): void;
  /** Under which key others hear of a name. */
  keyOf(name: string): string;
  close(): Promise<void>;
};

const channel = "colloquy_counts";
const everyMs = 1000;
/** PostgreSQL takes 8000 bytes. */
const notifiedBytes = 7500;
const maxPending = 10_000;

/**
 * Undefined where one process has the database to itself. What is told while a node has no connection for notifications it
 * never hears: then it counts by itself.
 */
export async function shareCounts(database: Database, log: Log): Promise<SharedCounts | undefined> {
  if (database.kind === "pglite") return undefined;
  const node = randomBytes(6).toString("base64url");
  const listeners: ((key: string, count: number) => void)[] = [];
  const pending = new Map<string, number>();

  const unlisten = await database.listen(channel, (payload) => {
    const [from, ...entries] = payload.split(" ");
    if (from === node) return;
    for (const entry of entries) {
      const [key = "", count = ""] = entry.split(":");
      if (/^\d{1,9}$/.test(count)) for (const listener of listeners) listener(key, Number(count));
    }
  });

  let telling: Promise<unknown> | undefined;
  const tell = () => {
    // A slow database gets larger messages, not more of them.
    if (telling || pending.size === 0) return;
    const payloads = payloadsOf(node, pending);
    pending.clear();
    telling = database
      .query(`select pg_notify($1, payload) from unnest($2::text[]) as payload`, [channel, payloads])
      .catch((error: unknown) => log.debug({ error: messageOf(error) }, "counts could not be told to other nodes"))
      .finally(() => {
        telling = undefined;
      });
  };
  const timer = setInterval(tell, everyMs).unref();

  return {
    keyOf,
    add(name) {
      const key = keyOf(name);
      if (pending.size < maxPending || pending.has(key)) pending.set(key, (pending.get(key) ?? 0) + 1);
    },
    hear(listener) {
      listeners.push(listener);
    },
    async close() {
      clearInterval(timer);
      // The connection closes with the database; without one this would wait for the next.
      void unlisten().catch(() => {});
      await telling;
    },
  };
}

/** Whoever may listen on the database learns no addresses. */
function keyOf(name: string): string {
  return createHash("sha256").update(name).digest("base64url").slice(0, 16);
}

function payloadsOf(node: string, counts: ReadonlyMap<string, number>): string[] {
  const payloads: string[] = [];
  let payload = node;
  for (const [key, count] of counts) {
    const entry = ` ${key}:${count}`;
    if (payload.length + entry.length > notifiedBytes) {
      payloads.push(payload);
      payload = node;
    }
    payload += entry;
  }
  return [...payloads, payload];
}
