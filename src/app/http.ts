import { join } from "node:path";
import type { Config } from "../config/schema.ts";
import { createApp } from "../http/app.ts";
import { loadPage } from "../http/files/page-files.ts";
import { createCancellations } from "../http/mcp/cancellations.ts";
import { listen } from "../http/server/listen.ts";
import type { Services } from "../http/server/services.ts";
import type { Log } from "../protocol/base/log.ts";
import { version } from "../protocol/base/version.ts";
import { type OpenAccess, serverSettingsOf } from "./access.ts";
import { openOllamaPort } from "./ollama-port.ts";
import { portOf, type ServerAddress } from "./start/address.ts";
import { type Capability, createCapabilityStack, findingsOf, healthOf } from "./start/capability-stack.ts";
import type { Store } from "./store.ts";

export type OpenHttp = {
  readonly url: string;
  /** Where clients of Ollama reach it too. */
  readonly ollamaUrl: string | undefined;
  readonly problems: readonly string[];
  readonly close: () => Promise<void>;
};

type HttpDeps = {
  /** Those of all parts. */
  readonly services: Omit<Services, "page" | "cancels" | "health" | "examine" | "server" | "log" | "version">;
  /** In the order in which doctor and health tell of them. */
  readonly parts: readonly Capability[];
  readonly store: Pick<Store, "database" | "notices">;
  readonly access: Pick<OpenAccess, "counts">;
  readonly address: Pick<ServerAddress, "set">;
  readonly log: Log;
  readonly quiet: boolean;
  /** How long answers that are under way may take at stop. */
  readonly graceMs: number;
};

/** Opens the HTTP server. It closes before all other parts, so that probes learn at once that this node is stopping. */
export async function openHttp(config: Config, deps: HttpDeps): Promise<OpenHttp> {
  const { services, parts, store, access, address, log, quiet, graceMs } = deps;
  await using opening = createCapabilityStack(log);
  const routes = parts.flatMap((part) => part.routes ?? []);
  const app = await createApp(
    {
      ...services,
      page: loadPage(join(import.meta.dirname, "../../.cache/page")),
      cancels: createCancellations(store.notices),
      health: async () => ({ version, ...healthOf(parts) }),
      examine: ({ all = false } = {}) => findingsOf(parts, { all }),
      server: { ...serverSettingsOf(config, access.counts), graceMs, quiet },
      log,
      version,
    },
    routes,
  );
  opening.add({ close: () => app.close() });
  const url = await listen(app, { ...config.server, advice: "COLLOQUY_PORT=8010 npm start" });
  const ollama = opening.add(await openOllamaPort(app, config, log));
  address.set(url, ollama.url === undefined ? [] : [portOf(new URL(ollama.url))]);
  store.database.announce?.({ url });
  return {
    url,
    ollamaUrl: ollama.url,
    problems: ollama.problem === undefined ? [] : [ollama.problem],
    close: opening.done(),
  };
}
