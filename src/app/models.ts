import { isAnothersPort } from "../egress/port-owner.ts";
import { join } from "node:path";
import { type Config, modelChoiceOf } from "../config/schema.ts";
import { type ModelAddresses, modelAddressesOf } from "./model-addresses.ts";
import type { Opened } from "./store.ts";
import { createCallLog } from "../models/serving/call-log.ts";
import { chooseModels, type ModelChoice } from "../models/discovery/choose.ts";
import { createPrices } from "../models/serving/prices.ts";
import { createPromptLog } from "../models/serving/prompt-log.ts";
import { createModels } from "../models/registry.ts";
import type { Log } from "../protocol/base/log.ts";
import type { ModelCallRecord } from "../protocol/agents/models.ts";
import type { Database } from "../store/driver/database.ts";
import { insertModelCalls, type PricedCall } from "../store/metering/model-calls.ts";

export type OpenedModels = {
  readonly choice: ModelChoice;
  readonly models: ReturnType<typeof createModels>;
  readonly callLog: ReturnType<typeof createCallLog>;
  readonly costOf: ReturnType<typeof createPrices>;
  /** Whether requests to it come to this very server. */
  readonly isOwn: (url: URL) => boolean;
  /** Where those may be that admins define. */
  readonly addresses: ModelAddresses;
  /** A key that came later: no log of prompts shows it. */
  readonly hide: (key: string) => void;
};

/** The models of the configuration, or those that were found here, and the log of what they are asked. */
export async function openModels(
  config: Config,
  {
    database,
    log,
    opened,
    ownPort,
  }: { readonly database: Database; readonly log: Log; readonly opened: Opened; readonly ownPort: () => string },
): Promise<OpenedModels> {
  const choice = await chooseModels({ ...modelChoiceOf(config), isAnothers: isAnothersPort });
  const costOf = createPrices(config.prices);
  const priced = (record: ModelCallRecord): PricedCall => {
    const { model, inputTokens, outputTokens } = record;
    const cost = costOf(model, { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 });
    return cost === undefined ? record : { ...record, cost };
  };
  const callLog = createCallLog({ log, write: (records) => insertModelCalls(database.query, records.map(priced)) });
  opened.push(callLog.close);
  const keys = keysOf(config);
  const promptLog = config.log.prompts
    ? createPromptLog({ path: join(config.data, "logs", "prompts.log"), secrets: keys, log })
    : undefined;
  if (promptLog) opened.push(promptLog.close);
  const isOwn = ({ hostname, port }: URL) =>
    config.server.hosts.includes(hostname) || (port === ownPort() && isLocalHost(hostname, config.server.host));
  const addresses = modelAddressesOf(config);
  const models = createModels({
    models: choice.models,
    connect: addresses.connect,
    ...(promptLog ? { prompts: promptLog } : {}),
    isOwn,
  });
  opened.push(models.close);
  const hide = (key: string) => {
    if (!keys.includes(key)) keys.push(key);
  };
  return { choice, models, callLog, costOf, isOwn, addresses, hide };
}

function isLocalHost(hostname: string, own: string): boolean {
  return hostname === own || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** Keys without a form of their own are masked by their value. */
function keysOf(config: Config): string[] {
  return config.models.flatMap((model) => ("apiKey" in model && model.apiKey !== undefined ? [model.apiKey] : []));
}
