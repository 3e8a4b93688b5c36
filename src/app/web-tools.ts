import type { Finding } from "../protocol/people/overview.ts";
import { type LoadedPrompts, promptFiller } from "../agents/load-prompts.ts";
import type { Config } from "../config/schema.ts";
import type { Tool } from "../protocol/agents/tools.ts";
import { brave } from "../tools/web/brave.ts";
import { fetchPageTool } from "../tools/web/fetch-page.ts";
import { createRateLimiter } from "../tools/web/rate-limiter.ts";
import { createPageReader } from "../tools/web/read-page.ts";
import type { SearchProvider } from "../tools/web/search-provider.ts";
import { createSearchWeb } from "../tools/web/search-web.ts";
import { searxng } from "../tools/web/searxng.ts";
import { tavily } from "../tools/web/tavily.ts";
import { websearchTool } from "../tools/web/websearch.ts";
import type { ServerAddress } from "./start/address.ts";

type WebsearchSettings = Config["websearch"];
type ProviderName = WebsearchSettings["providers"][number];

const megabyte = 1024 * 1024;
const atOnce = 4;

const howToSetUp =
  "No search provider is set up: set TAVILY_API_KEY, SEARXNG_URL or BRAVE_API_KEY, or websearch in colloquy.yaml, and start again.";

export type OpenWebTools = { readonly tools: readonly Tool[]; readonly findings: () => readonly Finding[] };

/** `websearch` and `fetch_page` of a server. */
export function openWebTools(
  config: Pick<Config, "websearch" | "server">,
  { prompts, address }: { readonly prompts: LoadedPrompts; readonly address: Pick<ServerAddress, "port"> },
): OpenWebTools {
  return {
    tools: webToolsOf(config, promptFiller(prompts.prompts, "websearch_answer"), address.port),
    findings: () => websearchFindings(config),
  };
}

/** The same, as the configuration wants them. */
export function webToolsOf(
  { websearch: settings, server }: Pick<Config, "websearch" | "server">,
  prompt: (values: Readonly<Record<string, string>>) => Promise<string>,
  ownPort: () => number = () => server.port,
): readonly Tool[] {
  const providers = providersOf(settings);
  const keptMs = settings.cacheMinutes * 60_000;
  const { robots, delaySeconds, timeoutSeconds, maxMb, allow } = settings.pages;
  return [
    websearchTool({
      search: createSearchWeb({ providers, keptMs }),
      maxResults: settings.maxResults,
      prompt: settings.answer ? prompt : undefined,
      unavailable: providers.length === 0 ? howToSetUp : undefined,
    }),
    fetchPageTool(
      createPageReader({
        ...{ robots, allow, keptMs, ownPort, ownHosts: server.hosts },
        delayMs: delaySeconds * 1000,
        timeoutMs: timeoutSeconds * 1000,
        maxBytes: Math.round(maxMb * megabyte),
      }),
    ),
  ];
}

/** For doctor. */
function websearchFindings({ websearch }: Pick<Config, "websearch">): Finding[] {
  const about = "websearch";
  const names = providersOf(websearch).map(({ name }) => name);
  return names.length === 0
    ? [{ grade: "note", about, text: howToSetUp }]
    : [{ grade: "ok", about, text: names.join(", then ") }];
}

function providersOf(settings: WebsearchSettings): SearchProvider[] {
  const made = {
    tavily({ tavily: { apiKey, requestsPerSecond, ...rest } }) {
      return apiKey === undefined ? undefined : tavily({ ...rest, apiKey, pace: paceOf(requestsPerSecond) });
    },
    searxng({ searxng: { url: baseUrl, requestsPerSecond, ...rest } }) {
      return baseUrl === undefined ? undefined : searxng({ ...rest, baseUrl, pace: paceOf(requestsPerSecond) });
    },
    brave({ brave: { apiKey, requestsPerSecond, ...rest } }) {
      return apiKey === undefined ? undefined : brave({ ...rest, apiKey, pace: paceOf(requestsPerSecond) });
    },
  } satisfies Record<ProviderName, (settings: WebsearchSettings) => SearchProvider | undefined>;
  return settings.providers.flatMap((name) => made[name](settings) ?? []);
}

function paceOf(requestsPerSecond: number) {
  return createRateLimiter({ gapMs: 1000 / requestsPerSecond, atOnce });
}
