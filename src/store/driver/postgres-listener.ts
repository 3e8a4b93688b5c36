import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { messageOf } from "../protocol/errors.ts";
import type { Log } from "../protocol/log.ts";

export type Listener = {
  listen(channel: string, hear: (payload: string) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
};

const firstWaitMs = 100;
const longestWaitMs = 5_000;

/**
 * One connection for LISTEN, made at the first use. When it is lost it is made again, every channel is listened to
 * again, and every hearer is called with an empty payload, since what was said meanwhile is gone.
 */
export function openListener(makeClient: () => pg.Client, log?: Log): Listener {
  const channels = new Map<string, Set<(payload: string) => void>>();
  const stop = new AbortController();
  let connected: Promise<pg.Client> | undefined;

  async function connect(): Promise<pg.Client> {
    const client = makeClient();
    client.on("error", () => {}); // "end" follows
    client.on("notification", ({ channel, payload }) => {
      for (const hear of channels.get(channel) ?? []) hear(payload ?? "");
    });
    try {
      await client.connect();
      for (const channel of channels.keys()) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      await client.end();
      throw error;
    }
    client.once("end", () => {
      if (stop.signal.aborted) return;
      log?.warn({}, "The connection for notifications was lost; connecting again.");
      connected = reconnect();
      connected.catch(() => {}); // only close() ends it without a connection
    });
    return client;
  }

  async function reconnect(): Promise<pg.Client> {
    for (let wait = firstWaitMs; ; wait = Math.min(wait * 2, longestWaitMs)) {
      await delay(wait, undefined, { signal: stop.signal });
      try {
        const client = await connect();
        for (const hearers of channels.values()) for (const hear of hearers) hear("");
        return client;
      } catch (error) {
        log?.warn({ error: messageOf(error) }, "Still no connection for notifications.");
      }
    }
  }

  async function command(text: string): Promise<void> {
    connected ??= connect().catch((error: unknown) => {
      connected = undefined;
      throw error;
    });
    const client = await connected;
    // It fails only with its connection; the next one then listens to what is in `channels`.
    await client.query(text).catch(() => {});
  }

  return {
    async listen(channel, hear) {
      const hearers = channels.get(channel) ?? new Set();
      channels.set(channel, hearers.add(hear));
      const name = pg.escapeIdentifier(channel);
      await command(`listen ${name}`);
      return async () => {
        hearers.delete(hear);
        if (hearers.size > 0 || stop.signal.aborted) return;
        channels.delete(channel);
        await command(`unlisten ${name}`);
      };
    },
    async close() {
      stop.abort();
      const client = await connected?.catch(() => undefined);
      await client?.end();
    },
  };
}
