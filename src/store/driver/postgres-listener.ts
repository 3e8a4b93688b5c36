import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { messageOf } from "../../protocol/base/errors.ts";
import type { Log } from "../../protocol/base/log.ts";
import { graceMs, withDeadline } from "./deadline.ts";
import { destroy } from "./postgres-pool.ts";

export type Listener = {
  listen(channel: string, hear: (payload: string) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
};

export type ListenerOptions = {
  /** How long an answer may take; as often it is asked whether anybody is there. */
  readonly answerMs: number;
  readonly log: Log | undefined;
};

const firstWaitMs = 100;
const longestWaitMs = 5_000;

/**
 * One connection for LISTEN, made at the first use. When it is lost, or falls silent, it is made again, every channel is
 * listened to again, and every hearer is called with an empty payload, since what was said meanwhile is gone.
 */
export function openListener(makeClient: () => pg.Client, { answerMs, log }: ListenerOptions): Listener {
  const channels = new Map<string, Set<(payload: string) => void>>();
  const stop = new AbortController();
  /** The first connection; it is made again by itself. */
  let begun: Promise<void> | undefined;
  /** The one that works now. */
  let live: pg.Client | undefined;
  const refused = new WeakSet<pg.Client>();

  /** Sends a statement, and destroys a connection that does not answer, which fires `end`. */
  const ask = (client: pg.Client, text: string): Promise<unknown> =>
    withDeadline(client.query(text), answerMs, () => {
      destroy(client);
      return new Error("The connection for notifications fell silent.");
    });

  async function connect(): Promise<pg.Client> {
    const client = makeClient();
    client.on("error", () => {}); // "end" follows
    client.on("notification", ({ channel, payload }) => {
      for (const hear of channels.get(channel) ?? []) hear(payload ?? "");
    });
    try {
      await client.connect();
      for (const channel of channels.keys()) await ask(client, `listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      destroy(client);
      throw error;
    }
    live = client;
    // Nothing else would tell: nobody speaks on it but the server.
    const pulse = setInterval(() => ask(client, "select 1").catch(() => {}), answerMs + 2 * graceMs).unref();
    client.once("end", () => {
      clearInterval(pulse);
      live = undefined;
      if (stop.signal.aborted) return;
      if (!refused.has(client)) log?.warn({}, "The connection for notifications was lost; connecting again.");
      reconnect().catch(() => {}); // only close() ends it without a connection
    });
    return client;
  }

  async function reconnect(): Promise<void> {
    for (let wait = firstWaitMs; ; wait = Math.min(wait * 2, longestWaitMs)) {
      await delay(wait, undefined, { signal: stop.signal });
      try {
        const client = await connect();
        if (stop.signal.aborted) return destroy(client);
        log?.info({}, "Notifications are heard again.");
        for (const hearers of channels.values()) for (const hear of hearers) hear("");
        return;
      } catch {
        // Told when it was lost. Nothing waits for what it would hear: whoever follows looks every second as well.
      }
    }
  }

  const tellRefusal = (error: unknown): void =>
    log?.warn({ error: messageOf(error) }, "PostgreSQL refuses to notify this process; connecting again.");

  async function command(text: string): Promise<void> {
    begun ??= connect().then(
      () => {},
      (error: unknown) => {
        tellRefusal(error);
        reconnect().catch(() => {});
      },
    );
    await begun;
    // Without a connection, and if this one is lost or refuses, the next one listens to what is in `channels`.
    const client = live;
    if (client)
      await ask(client, text).catch((error: unknown) => {
        if (live !== client) return;
        tellRefusal(error);
        refused.add(client);
        destroy(client);
      });
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
      await begun;
      const client = live;
      if (!client) return;
      const late = setTimeout(() => destroy(client), graceMs);
      await client.end();
      clearTimeout(late);
    },
  };
}
