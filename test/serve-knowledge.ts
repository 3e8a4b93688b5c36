import { createClient } from "../src/client/client.ts";
import type { KnowledgeClient } from "../src/client/knowledge.ts";
import { loadConfig } from "../src/config/load.ts";
import { startColloquy } from "../src/main.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { buildPage } from "./build-page.ts";
import { type EmbeddingServer, startEmbeddingServer } from "./embedding-server.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

export type KnowledgeServing = {
  readonly url: string;
  readonly token: string;
  readonly knowledge: KnowledgeClient;
  readonly embedding: EmbeddingServer;
  close(): Promise<void>;
};

/** A whole server in local mode with the page, and a server that embeds. */
export async function serveKnowledge(settings: Readonly<Record<string, string>> = {}): Promise<KnowledgeServing> {
  buildPage();
  const embedding = await startEmbeddingServer({ dimension: 64 });
  const env = {
    PATH: process.env["PATH"] ?? "",
    COLLOQUY_DATA: await freshDataDirectory(),
    COLLOQUY_PROBE: "false",
    COLLOQUY_TITLES: "first-words",
    COLLOQUY_PORT: "0",
    RAG_EMBEDDING_URL: embedding.url,
    ...settings,
  };
  const colloquy = await startColloquy(loadConfig({ env, cwd: temporaryFolder("knowledge") }), { log: silentLog });
  return {
    url: colloquy.url,
    token: colloquy.token,
    knowledge: createClient({ url: colloquy.url, token: colloquy.token }).knowledge,
    embedding,
    async close() {
      await colloquy.stop();
      await embedding.close();
    },
  };
}
