import type { Dispatcher } from "undici";
import type { FoundModels, FoundProvider } from "../../protocol/agents/trials.ts";
import type { NetworkReach } from "../../protocol/agents/definitions.ts";
import { isPrivateHost } from "./ask-context-size.ts";
import { askJson, fieldOf, type Reply } from "./ask-json.ts";
import { type Connector, createModelAgent } from "../transport/model-agent.ts";

export type FindModelsOptions = {
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

const timeoutMs = 8000;
const maxModels = 1000;

/**
 * Which models a server has, by asking in all the ways that are known, at the address and below it. `connect` makes the
 * connections; absent: they go anywhere. Never throws.
 */
export async function findModels(wish: FindModelsOptions, connect?: Connector): Promise<FoundModels> {
  const dispatcher = createModelAgent(connect);
  try {
    return await askAllWays(wish, dispatcher);
  } finally {
    await dispatcher.destroy();
  }
}

async function askAllWays(wish: FindModelsOptions, dispatcher: Dispatcher): Promise<FoundModels> {
  const base = new URL(wish.baseUrl);
  base.search = "";
  base.hash = "";
  const given = base.href.replace(/(?<!\/)\/+$/, "");
  const root = given.replace(/\/(v1|api)$/, "");
  const bearer: ModelListSource["headers"] =
    wish.apiKey === undefined ? {} : { authorization: `Bearer ${wish.apiKey}` };
  const ask = async (way: ModelListSource): Promise<ModelLookup> => {
    const reply = await askJson(way.url, { timeoutMs, headers: { ...way.headers, ...wish.headers }, dispatcher });
    return { ...way, ...outcomeOf(reply, way) };
  };
  const openai = (address: string): ModelListSource => ({
    provider: "openai",
    url: `${address}/models`,
    baseUrl: address,
    list: "data",
    field: "id",
    headers: bearer,
  });
  const anthropic: ModelListSource = {
    provider: "anthropic",
    url: `${root}/v1/models?limit=1000`,
    baseUrl: root,
    list: "data",
    field: "id",
    headers: { "anthropic-version": "2023-06-01", ...(wish.apiKey !== undefined && { "x-api-key": wish.apiKey }) },
  };
  const ollama: ModelListSource = {
    provider: "ollama",
    url: `${root}/api/tags`,
    baseUrl: root,
    list: "models",
    field: "name",
    headers: bearer,
  };
  const ways =
    base.hostname === "api.anthropic.com"
      ? [anthropic]
      : [ollama, openai(given), ...(given === `${root}/v1` ? [] : [openai(`${root}/v1`)])];
  const asked = await Promise.all(ways.map(ask));
  const found = asked.find(({ models }) => models !== undefined);
  return {
    reach: reachOf(base),
    provider: found?.provider ?? null,
    baseUrl: found?.baseUrl ?? null,
    models: found?.models?.slice(0, maxModels) ?? [],
    wantsKey: !found && asked.some(({ wantsKey }) => wantsKey),
    tried: asked.map(({ url, provider, outcome }) => ({ url, provider, outcome })),
  };
}

type ModelListSource = {
  readonly provider: FoundProvider;
  readonly url: string;
  readonly baseUrl: string;
  /** Where in the answer the list is, and the name in each of its entries. */
  readonly list: string;
  readonly field: string;
  readonly headers: Readonly<Record<string, string>>;
};
type LookupOutcome = { readonly outcome: string; readonly models?: readonly string[]; readonly wantsKey?: true };
type ModelLookup = ModelListSource & LookupOutcome;

function outcomeOf(reply: Reply, { list, field }: ModelListSource): LookupOutcome {
  if ("problem" in reply) return { outcome: reply.detail };
  const { status, body } = reply;
  if (status === 401 || status === 403)
    return { outcome: `it wants a key, or another one (status ${status}): check apiKey`, wantsKey: true };
  if (status >= 300 && status < 400)
    return { outcome: `it sends elsewhere (status ${status}): give the address it sends to` };
  const entries = fieldOf(body, list);
  if (status !== 200 || !Array.isArray(entries)) return { outcome: `no list of models there (status ${status})` };
  const models = entries.map((entry) => fieldOf(entry, field)).filter((name) => typeof name === "string");
  return { outcome: models.length === 1 ? "1 model" : `${models.length} models`, models };
}

export function reachOf(url: URL): NetworkReach {
  if (/^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0)$/i.test(url.hostname)) return "this machine";
  return isPrivateHost(url) ? "private network" : "internet";
}
