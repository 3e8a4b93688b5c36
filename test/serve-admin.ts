import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, createClient } from "../src/client/client.ts";
import { loadConfig } from "../src/config/load.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { newId } from "../src/protocol/base/ids.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { buildPage } from "./build-page.ts";
import { type ModelServer, startModelServer } from "./model-servers/model-server.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

export const modelKey = "sk-very-secret-key";
const dayMs = 24 * 60 * 60_000;

export type AdminServing = {
  readonly url: string;
  readonly client: Client;
  readonly served: ModelServer;
  close(): Promise<void>;
};

/** A whole server in local mode with the page, a model in its file, and three weeks in which models were used. */
export async function serveAdmin(): Promise<AdminServing> {
  buildPage();
  const served = await startModelServer({ key: modelKey, models: ["served", "other/model"] });
  const cwd = temporaryFolder("admin");
  writeFileSync(
    join(cwd, "colloquy.yaml"),
    `models:\n  - { id: filed, provider: openai, baseUrl: "${served.url}/v1", model: served, apiKey: ${modelKey} }\n` +
      "mcpServers:\n  mcp_filesystem: { disabled: true }\n  mcp_trader: { disabled: true }\n" +
      "retention: { auditDays: 400 }\ncurrency: EUR\n",
  );
  const env = {
    PATH: process.env["PATH"] ?? "",
    COLLOQUY_DATA: await freshDataDirectory(),
    COLLOQUY_SECRET: "a secret of these tests",
    COLLOQUY_PROBE: "false",
    COLLOQUY_TITLES: "first-words",
    COLLOQUY_PORT: "0",
  };
  const server = await startColloquy(loadConfig({ env, cwd }), { log: silentLog });
  await useModels(server);
  return {
    url: server.url,
    client: createClient({ url: server.url }),
    served,
    async close() {
      await server.stop();
      await served.close();
    },
  };
}

/** Ten requests a day before today, of the model `filed`; twelve on one of them, eight on another. */
async function useModels({ database }: Colloquy): Promise<void> {
  const now = Date.now();
  for (let day = 1; day <= 20; day++)
    await database.query(
      `insert into model_calls
         (id, asked, model, provider, started_at, first_part_ms, total_ms, input_tokens, output_tokens, cost, error)
       select unnest($1::uuid[]), 'filed', 'filed', 'openai', $2, 200, 900, 1000, 100, 0.01, $3`,
      [
        Array.from({ length: 10 + (day === 5 ? 2 : day === 9 ? -2 : 0) }, () => newId()),
        new Date(now - day * dayMs),
        day === 5 ? "it failed" : null,
      ],
    );
}
