import { isOtherUsersPort } from "../egress/port-owner.ts";
import { type ModelAddresses, modelAddressesOf } from "./model-addresses.ts";
import { join } from "node:path";
import { type Config, modelChoiceOf } from "../config/schema.ts";
import { relayWire } from "../http/dialects/chat-completions/relay-wire.ts";
import type { HealthDetails, Services } from "../http/server/services.ts";
import { createCallLog } from "../models/serving/call-log.ts";
import { chooseModels, type ModelChoice } from "../models/discovery/choose.ts";
import { createPromptLog } from "../models/serving/prompt-log.ts";
import { createModels, type Models } from "../models/registry.ts";
import type { Log } from "../protocol/base/log.ts";
import type { ModelCallRecord, ModelRegistry } from "../protocol/agents/models.ts";
import { insertModelCalls, type PricedCall } from "../store/metering/model-calls.ts";
import { createModelRelay, type ModelRelay } from "../tools/core/model-relay.ts";
import { type ServerAddress, portOf } from "./start/address.ts";
import { createCapabilityStack } from "./start/capability-stack.ts";
import { type OpenedRooms, withRoomModels } from "./rooms.ts";
import type { Store } from "./store.ts";

export type OpenedModels = {
  readonly choice: ModelChoice;
  /** All that agents may ask, those that members of rooms bring along among them. */
  readonly models: ModelRegistry;
  /** Those of the configuration, which admins may change. */
  readonly changeable: Models;
  /** How tools that work on another server ask them. */
  readonly relay: ModelRelay;
  readonly callLog: ReturnType<typeof createCallLog>;
  readonly costOf: ReturnType<typeof createPrices>;
  /** Whether requests to it come to this very server. */
  readonly isOwn: (url: URL) => boolean;
  /** Where those may be that admins define. */
  readonly addresses: ModelAddresses;
  /** A key that came later: no log of prompts shows it. */
  readonly hide: (key: string) => void;
  readonly services: Pick<Services, "models" | "callLog" | "relay">;
  readonly health: () => HealthDetails;
  readonly close: () => Promise<void>;
};

type ModelsDeps = {
  readonly store: Pick<Store, "database">;
  readonly rooms: Pick<OpenedRooms, "files">;
  readonly address: Pick<ServerAddress, "isOwnPort">;
  readonly log: Log;
};

/** The models of the configuration, or those that were found here, and the log of what they are asked. */
export async function openModels(config: Config, { store, rooms, address, log }: ModelsDeps): Promise<OpenedModels> {
  await using opening = createCapabilityStack(log);
  const choice = await chooseModels({ ...modelChoiceOf(config), isAnothers: isOtherUsersPort });
  const costOf = createPrices(config.prices);
  const priced = (record: ModelCallRecord): PricedCall => {
    const { model, inputTokens, outputTokens } = record;
    const cost = costOf(model, { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 });
    return cost === undefined ? record : { ...record, cost };
  };
  const write = (records: readonly ModelCallRecord[]) => insertModelCalls(store.database.query, records.map(priced));
  const callLog = opening.add(createCallLog({ log, write }));
  const keys = keysOf(config);
  const hide = (key: string) => {
    if (!keys.includes(key)) keys.push(key);
  };
  const prompts = config.log.prompts
    ? opening.add(createPromptLog({ path: join(config.data, "logs", "prompts.log"), secrets: keys, log }))
    : undefined;
  const isOwn = (url: URL) =>
    config.server.hosts.includes(url.hostname) ||
    (address.isOwnPort(portOf(url)) && isLocalHost(url.hostname, config.server.host));
  const addresses = modelAddressesOf(config);
  const changeable = opening.add(
    createModels({ models: choice.models, connect: addresses.connect, ...(prompts ? { prompts } : {}), isOwn }),
  );
  const { models } = opening.add(withRoomModels(changeable, rooms.files, { isOwn, hide }));
  const relay = createModelRelay(relayWire);
  return {
    ...{ choice, models, changeable, relay, callLog, costOf, isOwn, addresses, hide },
    services: { models, callLog, relay },
    health: () => ({ models: models.list() }),
    close: opening.done(),
  };
}

function isLocalHost(hostname: string, own: string): boolean {
  return hostname === own || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** Keys without a form of their own are masked by their value. */
function keysOf(config: Config): string[] {
  return config.models.flatMap((model) => ("apiKey" in model && model.apiKey !== undefined ? [model.apiKey] : []));
}

export type Prices = Readonly<Record<string, { readonly input: number; readonly output: number }>>;

const million = 1_000_000;

/** What tokens of a model cost, in the unit of the prices; undefined where no price is known. */
export function createPrices(prices: Prices) {
  return (
    model: string,
    usage: { readonly inputTokens: number; readonly outputTokens: number },
  ): number | undefined => {
    const price = prices[model];
    return price && (usage.inputTokens * price.input + usage.outputTokens * price.output) / million;
  };
}
