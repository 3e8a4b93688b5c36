import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { DocumentResult } from "../src/knowledge/documents/documents.ts";
import { createKnowledge, type Knowledge, type KnowledgeOptions } from "../src/knowledge/knowledge.ts";
import { type Caller, callerOf } from "../src/protocol/base/callers.ts";
import { newId } from "../src/protocol/base/ids.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import type { Database } from "../src/store/driver/database.ts";
import type { RagDocument } from "../src/store/knowledge/documents.ts";
import { createUser } from "../src/store/people/users.ts";
import type { TestDatabases } from "./databases.ts";
import { type EmbeddingServer, startEmbeddingServer } from "./embedding-server.ts";
import { temporaryFolder } from "./pglite.ts";

export const megabyte = 1024 * 1024;

export type ChunkRow = {
  readonly text: string;
  readonly page: number | null;
  readonly path: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly vectors: number;
};

/** What tests of documents share; filled before the first of the suite. */
export type TestKnowledge = {
  database: Database;
  knowledge: Knowledge;
  server: EmbeddingServer;
  /** Two people. */
  ada: Caller;
  bob: Caller;
  readonly folder: string;
  open(readers?: number): Promise<Knowledge>;
  person(): Promise<Caller>;
  /** Its id. */
  collection(embeddingModel?: string, caller?: Caller): Promise<string>;
  add(collectionId: string, name: string, data: string | Buffer, caller?: Caller): Promise<DocumentResult>;
  /** When it is ready or has failed. */
  settled(id: string): Promise<RagDocument>;
  chunksOf(id: string): Promise<readonly ChunkRow[]>;
  /** When there are just the original and the text of a document; what was before goes last. */
  twoFiles(collectionId: string, id: string): Promise<void>;
};

/** Small chunks, two readers, and a server that embeds. */
export function knowledgeOptions(given: {
  readonly database: Database;
  readonly folder: string;
  readonly url: string;
}): KnowledgeOptions {
  const { database, folder, url } = given;
  return {
    database,
    folder,
    embedding: {
      http: { url },
      local: { models: join(folder, "models"), packages: join(folder, "packages"), environment: {} },
    },
    defaults: {
      chunkSize: 100,
      chunkOverlap: 10,
      hybridWeight: 0.5,
      indexType: "auto",
      language: "english",
      rewrite: false,
      embeddingModel: "none",
    },
    models: ["http:words*"],
    documentBytes: 2 * megabyte,
    limits: { bytes: 20 * megabyte, documents: 200 },
    readers: 2,
    allow: ["127.0.0.1"],
    log: silentLog,
  };
}

/** Collections and documents of their own for a suite, with a server that embeds. */
export function testKnowledge(databases: TestDatabases): TestKnowledge {
  const folder = temporaryFolder("rag_documents");
  // What is missing comes before the first test.
  const state: TestKnowledge = {
    ...({} as Pick<TestKnowledge, "database" | "knowledge" | "server" | "ada" | "bob">),
    folder,
    open: (readers = 2) =>
      createKnowledge({ ...knowledgeOptions({ database: state.database, folder, url: state.server.url }), readers }),
    async person() {
      const user = await createUser(state.database.query, { name: `u-${newId()}`, role: "user" });
      return callerOf({ ...user, permissions: ["collection:*"] }, "api-key");
    },
    async collection(embeddingModel = "none", caller = state.ada) {
      return (await state.knowledge.collections.create(caller, { name: `c-${newId()}`, embeddingModel })).id;
    },
    add: (id, name, data, caller = state.ada) =>
      state.knowledge.documents.add(caller, id, { name, source: { kind: "file" }, bytes: bytesOf(data) }),
    async settled(id) {
      for (;;) {
        const document = await state.knowledge.documents.get(state.ada, id);
        if (document.status === "ready" || document.status === "failed") return document;
        await sleep(20);
      }
    },
    chunksOf: (id) =>
      state.database.query<ChunkRow>(
        `select c.text, c.page, c.heading_path as path, c.char_start as "from", c.char_end as "to",
           (select count(*)::integer from rag_vectors v where v.chunk_id = c.id) as vectors
         from rag_chunks c where c.document_id = $1 order by c.ordinal`,
        [id],
      ),
    async twoFiles(collectionId, id) {
      while ((await readdir(join(folder, collectionId, id))).length !== 2) await sleep(20);
    },
  };
  before(async () => {
    state.database = await databases.open();
    state.server = await startEmbeddingServer();
    state.knowledge = await state.open();
    state.ada = await state.person();
    state.bob = await state.person();
  });
  after(async () => {
    await state.knowledge.close();
    await state.server.close();
  });
  return state;
}

export async function* bytesOf(data: string | Buffer): AsyncGenerator<Uint8Array> {
  yield Buffer.from(data);
}
