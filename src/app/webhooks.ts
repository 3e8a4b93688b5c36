import type { Config } from "../config/schema.ts";
import type { Services } from "../http/server/services.ts";
import type { Log } from "../protocol/base/log.ts";
import type { RunsOptions } from "../run/create-runs.ts";
import { startWebhooks } from "../webhooks/deliver.ts";
import type { Store } from "./store.ts";

const graceMs = 2000;

export type OpenWebhooks = {
  /** The names of those that are told of an event of this kind. */
  readonly hooksFor: NonNullable<RunsOptions["hooksFor"]>;
  readonly services: Pick<Services, "hooks">;
  readonly close?: () => Promise<void>;
};

type WebhooksDeps = {
  readonly store: Pick<Store, "database">;
  readonly log: Log;
  /** False: this process delivers nothing. */
  readonly runsJobs: boolean;
};

/** Who is told of what happens here. */
export function openWebhooks(
  { webhooks: hooks }: Config,
  { store: { database }, log, runsJobs }: WebhooksDeps,
): OpenWebhooks {
  const delivery = runsJobs ? startWebhooks({ database, hooks, log }) : undefined;
  return {
    hooksFor: (event) => hooks.filter(({ events }) => events.includes(event)).map(({ name }) => name),
    services: { hooks: hooks.map(({ name }) => name) },
    ...(delivery && { close: () => delivery.stop(graceMs) }),
  };
}
