import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import type { DocumentView } from "../../protocol/knowledge/documents.ts";
import type { CollectionView } from "../../protocol/knowledge/collections.ts";
import type { KnowledgeClient } from "../../client/knowledge.ts";
import { Conflict, InvalidInput } from "../../protocol/base/errors.ts";
import { collectionSettingsSchema } from "../../protocol/knowledge/chunks.ts";

const format = "colloquy-collection-1";

const documentSchema = z.object({
  folder: z.string().regex(/^\d{6}$/),
  name: z.string(),
  file: z.string().regex(/^[^/\\]+$/),
  url: z.string().optional(),
  /** Absent: it was not read; it is when it is imported. */
  content: z
    .object({
      kind: z.string(),
      mediaType: z.string(),
      metadata: z.record(z.string(), z.unknown()),
      pages: z.int().nullable(),
    })
    .optional(),
});

const manifestSchema = z.object({
  format: z.literal(format),
  name: z.string(),
  description: z.string(),
  embeddingModel: z.string(),
  dimension: z.int().nullable(),
  settings: collectionSettingsSchema,
  documents: z.array(documentSchema),
});
type CollectionManifest = z.infer<typeof manifestSchema>;

/** Everything of a collection as one folder: `collection.json`, and for each document its original, text and chunks. */
export async function exportCollection(
  rag: KnowledgeClient,
  collection: CollectionView,
  { folder, say }: { readonly folder: string; readonly say: (text: string) => void },
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new Conflict(`${folder} is not empty; choose another folder.`);
  const documents: CollectionManifest["documents"] = [];
  for (let after: string | undefined; ;) {
    const page = await rag.documents(collection.id, { limit: 100, ...(after !== undefined && { after }) });
    for (const document of page) {
      const exported = await exportDocument(rag, document, join(folder, "documents"), documents.length + 1);
      if (exported) documents.push(exported);
      else say(`skipped, never fetched: ${document.name}`);
    }
    after = page.at(-1)?.name;
    if (after === undefined) break;
  }
  const { name, description, embeddingModel, dimension, settings } = collection;
  const manifest: CollectionManifest = { format, name, description, embeddingModel, dimension, settings, documents };
  // Last: a folder with it is whole.
  await writeFile(join(folder, "collection.json"), `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600 });
}

async function exportDocument(
  rag: KnowledgeClient,
  document: DocumentView,
  folder: string,
  number: number,
): Promise<CollectionManifest["documents"][number] | undefined> {
  const { id, name, source, revision, kind, mediaType, metadata, pages, sha256 } = document;
  if (sha256 === null && revision === 0) return undefined;
  const place = String(number).padStart(6, "0");
  await mkdir(join(folder, place), { recursive: true, mode: 0o700 });
  const file = fileName(source.url === undefined ? name : new URL(source.url).pathname, kind);
  const write = (to: string, content: Uint8Array | string) =>
    writeFile(join(folder, place, to), content, { mode: 0o600 });
  await write(file, await rag.content(id, "content"));
  const about = { folder: place, name, file, ...(source.url !== undefined && { url: source.url }) };
  if (revision === 0) return about;
  await write("text.txt", await rag.text(id));
  await write("chunks.jsonl", await rag.content(id, "chunks"));
  return {
    ...about,
    content: { kind: kind ?? "text", mediaType: mediaType ?? "text/plain", metadata: metadata ?? {}, pages },
  };
}

/** Makes a collection of an exported folder; resolves to it, and to how many documents were not taken. */
export async function importCollection(
  rag: KnowledgeClient,
  folder: string,
  { name, say }: { readonly name?: string | undefined; readonly say: (text: string) => void },
): Promise<{ readonly collection: CollectionView; readonly refused: number }> {
  const manifest = await readManifest(folder);
  const { description, embeddingModel, settings, dimension } = manifest;
  const { chunkSize, chunkOverlap } = settings;
  const made = { chunkSize, chunkOverlap, embeddingModel };
  const collection = await rag.create({ name: name ?? manifest.name, description, embeddingModel, settings });
  let refused = 0;
  for (const document of manifest.documents) {
    const place = join(folder, "documents", document.folder);
    const original = await readFile(join(place, document.file));
    try {
      const { outcome } = document.content
        ? await rag.importDocument(collection.id, await formOf(place, { document, original, made, dimension }))
        : await rag.addFile(collection.id, { name: document.name, bytes: new Uint8Array(original) });
      say(`${outcome}: ${document.name}`);
    } catch (error) {
      refused++;
      say(`failed: ${document.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { collection, refused };
}

async function formOf(
  place: string,
  {
    document,
    original,
    made,
    dimension,
  }: {
    readonly made: object;
    readonly document: CollectionManifest["documents"][number];
    readonly original: Buffer<ArrayBuffer>;
    readonly dimension: number | null;
  },
): Promise<FormData> {
  const { name, url, content } = document;
  const about = { name, url, made, ...content, ...(dimension !== null && { dimension }) };
  const form = new FormData();
  form.append("about", JSON.stringify(about));
  form.append("original", new Blob([original]), document.file);
  for (const part of ["text.txt", "chunks.jsonl"])
    form.append(part.split(".")[0]!, new Blob([await readFile(join(place, part))]), part);
  return form;
}

async function readManifest(folder: string): Promise<CollectionManifest> {
  const text = await readFile(join(folder, "collection.json"), "utf8").catch((cause: unknown) => {
    throw new InvalidInput(`${folder} is not an exported collection: it has no collection.json.`, { cause });
  });
  const parsed = manifestSchema.safeParse(JSON.parse(text));
  if (!parsed.success)
    throw new InvalidInput(`${folder}/collection.json does not have the format ${format}.`, { cause: parsed.error });
  return parsed.data;
}

/** What tells texts apart is the ending. */
function fileName(name: string, kind: string | null): string {
  const plain = basename(name.replaceAll("\\", "/"))
    .replaceAll(/[^\p{L}\p{N}._ -]/gu, "_")
    .slice(-100);
  const named = /^[. ]*$/.test(plain) || ["text.txt", "chunks.jsonl"].includes(plain) ? `original-${plain}` : plain;
  return kind === "html" && !/\.html?$/i.test(named) ? `${named}.html` : named;
}
