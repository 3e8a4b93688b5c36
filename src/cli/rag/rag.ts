import type { Stats } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DocumentView } from "../../protocol/knowledge/documents.ts";
import type { CollectionView } from "../../protocol/knowledge/collections.ts";
import { createClient } from "../../client/client.ts";
import type { KnowledgeClient } from "../../client/knowledge.ts";
import { connect } from "../connect.ts";
import { exportCollection, importCollection } from "./move.ts";
import { type EvalOptions, evaluate, type QueryOptions, tryQuery } from "./search.ts";
import { loadConfig } from "../../config/load.ts";
import { ColloquyError, InvalidInput, NotFound } from "../../protocol/base/errors.ts";

export type RagOptions = {
  readonly json: boolean;
  /** An embedding model. */
  readonly model?: string | undefined;
  readonly chunkSize?: string | undefined;
  /** Of an imported collection. */
  readonly name?: string | undefined;
} & Omit<QueryOptions & EvalOptions, "json">;

const usage = `./colloquy rag list [<collection>]
  ./colloquy rag add <collection> <file, folder or address>… [--model http:…]
  ./colloquy rag remove <collection> [<document>…]
  ./colloquy rag reindex <collection> [--model http:…] [--chunk-size <tokens>]
  ./colloquy rag export <collection> <folder>
  ./colloquy rag import <folder> [--name <name>]
  ./colloquy rag query <collection> "<question>" [--retrieval lexical|vector|hybrid] [--limit <passages>]
  ./colloquy rag eval [<folder>] [--collection <name>] [--model http:…]`;

type RagCommand = (rag: KnowledgeClient, words: readonly string[], options: RagOptions) => Promise<number>;

const pollMs = 300;
/** Of a folder that is added: what holds no documents of anybody. */
const skipped = new Set(["node_modules", "__pycache__"]);

const verbs: Readonly<
  Record<string, { readonly words: number; readonly runsJobs: boolean; readonly act: RagCommand }>
> = {
  list: { words: 0, runsJobs: false, act: list },
  add: { words: 2, runsJobs: true, act: add },
  remove: { words: 1, runsJobs: false, act: remove },
  reindex: { words: 1, runsJobs: true, act: reindex },
  export: { words: 2, runsJobs: false, act: moveOut },
  import: { words: 1, runsJobs: true, act: moveIn },
  query: { words: 2, runsJobs: false, act: tryQuery },
  eval: { words: 0, runsJobs: true, act: evaluate },
};

/** `colloquy rag <verb> …`: collections of documents. */
export async function rag([verb = "", ...words]: readonly string[], options: RagOptions): Promise<number> {
  const known = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (!known || words.length < known.words) throw new InvalidInput(usage);
  const { server, close } = await connect(loadConfig(), { runsJobs: known.runsJobs });
  try {
    return await known.act(createClient(server).knowledge, words, options);
  } finally {
    await close();
  }
}

async function list(knowledge: KnowledgeClient, [name]: readonly string[], { json }: RagOptions): Promise<number> {
  if (name === undefined) {
    const all = await knowledge.collections();
    if (json) console.log(JSON.stringify(all));
    else for (const collection of all) console.log(lineOf(collection));
    return 0;
  }
  const { id } = await named(knowledge, name);
  for await (const document of documentsOf(knowledge, id))
    console.log(json ? JSON.stringify(document) : documentLine(document));
  return 0;
}

async function add(
  knowledge: KnowledgeClient,
  [name, ...places]: readonly string[],
  options: RagOptions,
): Promise<number> {
  const isUrl = (place: string) => /^https?:\/\//.test(place);
  for (const place of places) if (!isUrl(place)) await statsOf(place);
  const collection = await namedOrNew(knowledge, name!, options);
  let failed = 0;
  const problem = (place: string, message: string) => {
    failed++;
    console.error(`not added: ${place}: ${message}`);
  };
  const added: DocumentView[] = [];
  for (const place of places)
    if (isUrl(place)) {
      const { data, problems } = await knowledge.addUrls(collection.id, [place]);
      added.push(...data.map(({ document }) => document));
      for (const each of problems) problem(each.name, each.message);
    } else
      for await (const file of filesAt(place)) {
        try {
          const bytes = new Uint8Array(await readFile(file.path));
          const { outcome, document } = await knowledge.addFile(collection.id, { name: file.name, bytes });
          if (outcome !== "unchanged") added.push(document);
          if (outcome === "duplicate") console.error(`duplicate of ${document.name}: ${file.name}`);
        } catch (error) {
          if (!(error instanceof ColloquyError)) throw error;
          problem(file.path, error.message);
        }
      }
  failed += await readAll(knowledge, collection.id, new Set(added.map(({ id }) => id)));
  return failed === 0 ? 0 : 1;
}

async function remove(knowledge: KnowledgeClient, [name, ...documents]: readonly string[]): Promise<number> {
  const { id } = await named(knowledge, name!);
  if (documents.length === 0) {
    await knowledge.removeCollection(id);
    console.log(`removed ${name}`);
    return 0;
  }
  const wanted = new Set(documents);
  for await (const document of documentsOf(knowledge, id)) {
    if (!wanted.delete(document.name)) continue;
    await knowledge.removeDocument(document.id);
    console.log(`removed ${document.name}`);
  }
  if (wanted.size > 0) throw new NotFound(`No document ${[...wanted].join(", ")} in ${name}.`);
  return 0;
}

async function reindex(
  knowledge: KnowledgeClient,
  [name]: readonly string[],
  { model, chunkSize }: RagOptions,
): Promise<number> {
  const { id } = await named(knowledge, name!);
  await knowledge.reindex(id, {
    ...(model !== undefined && { embeddingModel: model }),
    ...(chunkSize !== undefined && { settings: { chunkSize: Number(chunkSize) } }),
  });
  return (await readAll(knowledge, id)) === 0 ? 0 : 1;
}

async function moveOut(knowledge: KnowledgeClient, [name, folder]: readonly string[]): Promise<number> {
  const collection = await named(knowledge, name!);
  await exportCollection(knowledge, collection, { folder: folder!, say: console.error });
  console.log(`exported ${collection.name} to ${folder}`);
  return 0;
}

async function moveIn(knowledge: KnowledgeClient, [folder]: readonly string[], { name }: RagOptions): Promise<number> {
  const { collection, refused } = await importCollection(knowledge, folder!, { name, say: console.error });
  const failed = await readAll(knowledge, collection.id);
  console.log(lineOf(await knowledge.collection(collection.id)));
  return failed + refused === 0 ? 0 : 1;
}

/** Tells each document as it is done; how many could not be read. */
async function readAll(knowledge: KnowledgeClient, collectionId: string, only?: ReadonlySet<string>): Promise<number> {
  const told = new Set<string>();
  for (let failed = 0; ; await sleep(pollMs)) {
    let open = 0;
    for await (const document of documentsOf(knowledge, collectionId)) {
      const { id, status, error } = document;
      if ((only && !only.has(id)) || told.has(id)) continue;
      // Tried again later, maybe much later: whoever waits here wants to know.
      const isStuck = status === "queued" && error !== null;
      if ((status === "queued" || status === "working") && !isStuck) {
        open++;
        continue;
      }
      told.add(id);
      if (status !== "ready") failed++;
      console.log(documentLine(document));
    }
    if (open === 0) return failed;
  }
}

async function* documentsOf(knowledge: KnowledgeClient, collectionId: string): AsyncGenerator<DocumentView> {
  for (let after: string | undefined; ;) {
    const page = await knowledge.documents(collectionId, { limit: 500, ...(after !== undefined && { after }) });
    yield* page;
    after = page.at(-1)?.name;
    if (after === undefined) return;
  }
}

/** A file, or those of a folder and of the folders in it; hidden ones are left out. */
async function* filesAt(place: string): AsyncGenerator<{ readonly path: string; readonly name: string }> {
  if (!(await statsOf(place)).isDirectory()) return yield { path: place, name: basename(place) };
  const entries = await readdir(place, { withFileTypes: true, recursive: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const inside = path.slice(join(place, "/").length).replaceAll("\\", "/");
    if (!entry.isFile() || inside.split("/").some((part) => part.startsWith(".") || skipped.has(part))) continue;
    yield { path, name: `${basename(join(place, "."))}/${inside}` };
  }
}

function statsOf(place: string): Promise<Stats> {
  return stat(place).catch((cause: unknown) => {
    throw new NotFound(`File or folder ${place} not found.`, { cause });
  });
}

async function named(knowledge: KnowledgeClient, name: string): Promise<CollectionView> {
  const all = (await knowledge.collections()).filter((each) => each.name === name || each.id === name);
  const own = all.find(({ isOwn }) => isOwn) ?? all[0];
  if (!own) throw new NotFound(`Collection ${name} not found. Run \`./colloquy rag list\` to see all collections.`);
  return own;
}

async function namedOrNew(knowledge: KnowledgeClient, name: string, { model }: RagOptions): Promise<CollectionView> {
  const own = (await knowledge.collections()).find((each) => each.isOwn && (each.name === name || each.id === name));
  if (own && model !== undefined && model !== own.embeddingModel)
    throw new InvalidInput(
      `${name} uses the embedding model ${own.embeddingModel}. To change it, run: ./colloquy rag reindex ${name} --model ${model}`,
    );
  return own ?? knowledge.create({ name, ...(model !== undefined && { embeddingModel: model }) });
}

function lineOf({ name, owner, isOwn, embeddingModel, counts }: CollectionView): string {
  const { documents, chunks, queued, working, failed } = counts;
  const open = queued + working;
  const parts = [`${documents} documents`, `${chunks} chunks`, `embeddings: ${embeddingModel}`];
  if (open > 0) parts.push(`${open} pending`);
  if (failed > 0) parts.push(`${failed} failed`);
  if (!isOwn) parts.push(`owner: ${owner}`);
  return `${name}\t${parts.join(", ")}`;
}

function documentLine({ name, status, error, chunks, pages }: DocumentView): string {
  const size = pages === null ? `${chunks} chunks` : `${pages} pages, ${chunks} chunks`;
  return `${name}\t${status}\t${error ?? size}`;
}
