import { createHmac } from "node:crypto";
import { guardedRequest } from "../egress/guarded-request.ts";
import { messageOf } from "../protocol/base/errors.ts";
import type { Log } from "../protocol/base/log.ts";
import type { Database } from "../store/driver/database.ts";
import { type DueDelivery, noteFailure, removeDelivery, takeDeliveries, tidyDeliveries } from "../store/deliveries.ts";

export type Webhook = { readonly name: string; readonly url: string; readonly secret: string };

export type WebhooksOptions = {
  readonly database: Database;
  readonly hooks: readonly Webhook[];
  readonly log: Log;
  readonly pollMs?: number;
  /** Timeout of one request, in milliseconds; must be shorter than a lease. */
  readonly timeoutMs?: number;
  /** Pause before the second attempt, in seconds; doubles each time, up to an hour. */
  readonly firstRetrySeconds?: number;
};

/** Simultaneous requests per webhook, so that a slow receiver delays no other. */
const perHook = 8;
const leaseSeconds = 60;
const longestRetrySeconds = 3600;
const giveUpSeconds = 24 * 3600;
const tidyMs = 60_000;

/**
 * Sends the rows of the table `deliveries` at least once: if a node dies after a receiver's answer but before recording it,
 * the row is sent again with the same ID. `stop` waits up to `graceMs` for running requests.
 */
export function startWebhooks(options: WebhooksOptions): { stop(graceMs: number): Promise<void> } {
  const { database, log, pollMs = 1000 } = options;
  const hooks = new Map(options.hooks.map((hook) => [hook.name, hook]));
  const sending = new Map([...hooks.keys()].map((name) => [name, 0]));
  const underWay = new Set<Promise<void>>();
  const stopping = new AbortController();
  let stopped = false;
  let looking: Promise<void> | undefined;
  let again = false;
  /** Webhooks that may have more due deliveries than fit. */
  const full = new Set<string>();

  function look(): void {
    if (stopped || hooks.size === 0) return;
    if (looking) {
      again = true;
      return;
    }
    again = false;
    looking = takeSome()
      .catch((error: unknown) => log.warn({ error: messageOf(error) }, "could not look for webhooks' deliveries"))
      .finally(() => {
        looking = undefined;
        if (again) look();
      });
  }

  async function takeSome(): Promise<void> {
    const room = new Map([...sending].map(([name, count]) => [name, perHook - count]));
    full.clear();
    for (const delivery of await takeDeliveries(database.query, { room, leaseSeconds })) {
      const left = room.get(delivery.hook)! - 1;
      room.set(delivery.hook, left);
      if (left === 0) full.add(delivery.hook);
      send(delivery);
    }
  }

  function send(delivery: DueDelivery): void {
    const { hook } = delivery;
    sending.set(hook, sending.get(hook)! + 1);
    const work = deliver(options, hooks.get(hook)!, { delivery, signal: stopping.signal })
      .catch((error: unknown) =>
        // It is sent again when its lease expires.
        log.warn({ error: messageOf(error), hook, delivery: delivery.id }, "a webhook's delivery was not recorded"),
      )
      .finally(() => {
        underWay.delete(work);
        sending.set(hook, sending.get(hook)! - 1);
        if (full.has(hook)) look();
      });
    underWay.add(work);
  }

  const tidy = () =>
    tidyDeliveries(database.query, [...hooks.keys()]).catch((error: unknown) =>
      log.warn({ error: messageOf(error) }, "could not tidy up webhooks' deliveries"),
    );
  const timers = [setInterval(look, pollMs), setInterval(tidy, tidyMs)];
  look();
  return {
    async stop(graceMs) {
      stopped = true;
      for (const timer of timers) clearInterval(timer);
      await looking;
      const late = setTimeout(() => stopping.abort(new Error("the server stops")), graceMs);
      await Promise.all(underWay);
      clearTimeout(late);
    },
  };
}

async function deliver(
  { database, log, timeoutMs = 10_000, firstRetrySeconds = 10 }: WebhooksOptions,
  hook: Webhook,
  { delivery, signal }: { readonly delivery: DueDelivery; readonly signal: AbortSignal },
): Promise<void> {
  const error = await post(hook, delivery, { signal, timeoutMs });
  if (error === undefined) return removeDelivery(database.query, delivery.id);
  const { id, tries } = delivery;
  const longest = Math.min(longestRetrySeconds, firstRetrySeconds * 2 ** (tries - 1));
  const retrySeconds = delivery.ageSeconds >= giveUpSeconds ? null : longest * (0.8 + Math.random() * 0.4);
  log.warn(
    { hook: hook.name, delivery: id, tries, error },
    retrySeconds === null ? "gave up on a webhook delivery" : "a webhook delivery failed; retrying",
  );
  await noteFailure(database.query, delivery, { error, retrySeconds });
}

/** Sends one delivery. Returns undefined if the receiver accepted it, otherwise the reason without secrets. */
async function post(
  { url, secret }: Webhook,
  { id, body, event }: DueDelivery,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<string | undefined> {
  try {
    const answer = await guardedRequest(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "colloquy",
        "x-colloquy-event": event,
        "x-colloquy-delivery": id,
        "x-colloquy-signature": signatureOf(body, secret),
      },
      body,
      signal,
      timeoutMs,
      maxBytes: 1_000_000,
      maxRedirects: 0,
      // Configured by the operator, so private addresses are allowed.
      allow: [new URL(url).hostname],
    });
    if (answer.status >= 200 && answer.status < 300) return undefined;
    return `It answered ${answer.status}: ${answer.body.toString("utf8").slice(0, 200)}`;
  } catch (error) {
    return messageOf(error).slice(0, 500);
  }
}

/** `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">`: the time is signed too, so an old request can't be played again. */
function signatureOf(body: string, secret: string): string {
  const time = Math.floor(Date.now() / 1000);
  return `t=${time},v1=${createHmac("sha256", secret).update(`${time}.${body}`).digest("hex")}`;
}
