import { readFile } from "node:fs/promises";
import type { ChunkView, DocumentResultView } from "../../protocol/knowledge/documents.ts";
import type { Caller } from "../../protocol/base/callers.ts";
import { Conflict, InvalidInput, NotFound } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../../store/driver/database.ts";
import { type ChunkPage, listChunks, readChunks } from "../../store/knowledge/chunk-rows.ts";
import { removeChunks } from "../../store/knowledge/chunks.ts";
import type { Collection } from "../../store/knowledge/collections.ts";
import {
  deleteDocument,
  type DocumentPage,
  type DocumentSource,
  documentsOf,
  findDocuments,
  getDocument,
  insertDocument,
  listDocuments,
  type RagDocument,
  replaceContent,
  requeueDocument,
} from "../../store/knowledge/documents.ts";
import type { Collections } from "./collections.ts";
import type { DocumentFiles, StagedFile } from "./document-files.ts";
import { type GivenContent, stageExportedChunks } from "./exported-chunks.ts";
import { openStagingFolder } from "./staging-folder.ts";

/** Outcome of adding a document. */
export type DocumentResult = {
  readonly document: RagDocument;
  /** `unchanged`: it is there with this content; `duplicate`: this content is there under another name, which is the document's. */
  readonly outcome: DocumentResultView["outcome"];
};

export type NewFile = {
  /** Unique in the collection: the same name again replaces the document. */
  readonly name: string;
  readonly source: DocumentSource;
  readonly bytes: AsyncIterable<Uint8Array>;
};

/** As it was exported. */
export type GivenDocument = NewFile & {
  readonly text: AsyncIterable<Uint8Array>;
  /** A chunk a line. */
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly content: GivenContent;
  /** How it was cut and embedded; what is otherwise here is done anew. */
  readonly made: { readonly chunkSize: number; readonly chunkOverlap: number; readonly embeddingModel: string };
  /** Dimension of its chunks' embeddings, if any. */
  readonly dimension?: number | undefined;
};

/** Documents of collections. Each verb throws NotFound for what the caller may not read, AccessDenied for what is only the owner's. */
export type Documents = {
  /** Its content is kept, and queued to be read. Throws InvalidInput 413. */
  add(caller: Caller, collectionId: string, file: NewFile): Promise<DocumentResult>;
  /** A document that was exported: neither read nor embedded again, if the collection would do it in the same way. */
  import(caller: Caller, collectionId: string, document: GivenDocument): Promise<DocumentResult>;
  /** Its chunks with their text. */
  chunks(caller: Caller, id: string, page: ChunkPage): Promise<readonly ChunkView[]>;
  /** Its chunks as an export has them, a line each. */
  exportChunks(caller: Caller, id: string): Promise<AsyncIterable<string>>;
  /** Adds the content of an address. It is queued for fetching, even if it was fetched before. */
  addUrl(caller: Caller, collectionId: string, url: string): Promise<DocumentResult>;
  list(caller: Caller, collectionId: string, page: DocumentPage): Promise<readonly RagDocument[]>;
  get(caller: Caller, id: string): Promise<RagDocument>;
  /** Where its original is: that which is searched, else the newest. Throws NotFound if it was not fetched yet. */
  original(caller: Caller, id: string): Promise<{ readonly document: RagDocument; readonly place: string }>;
  /** The text that chunks are slices of. Throws NotFound if it was never ready. */
  text(caller: Caller, id: string): Promise<string>;
  /** Reads it anew. */
  retry(caller: Caller, id: string): Promise<RagDocument>;
  /** With its chunks, its original and its text. */
  remove(caller: Caller, id: string): Promise<void>;
};

export type DocumentsOptions = {
  readonly database: Database;
  readonly files: DocumentFiles;
  readonly collections: Collections;
  readonly limits: { readonly bytes: number; readonly documents: number };
  /** There is something in the queue. */
  readonly onQueued: () => void;
};

const maxNameLength = 500;
const tries = 3;

export function createDocuments(options: DocumentsOptions): Documents {
  const { database, files, collections, limits, onQueued } = options;
  const { query } = database;

  async function readable(caller: Caller, id: string): Promise<RagDocument> {
    const document = await getDocument(query, id);
    await collections.get(caller, document.collectionId).catch((error: unknown) => {
      // A collection that the caller may not read must look as if it did not exist.
      throw error instanceof NotFound ? noDocument(id) : error;
    });
    return document;
  }

  async function own(caller: Caller, id: string): Promise<RagDocument> {
    const document = await readable(caller, id);
    await collections.own(caller, document.collectionId);
    return document;
  }

  /** Its row and its file belong together: the file has its place before the row names it. */
  async function place(
    collection: Collection,
    file: Omit<NewFile, "bytes">,
    incoming: StagedFile,
    given?: {
      prepare(document: { readonly id: string; readonly collectionId: string }): Promise<void>;
      readonly dimension: number | null;
    },
  ): Promise<DocumentResult> {
    for (let left = tries; ; left--) {
      const { sha256, bytes } = incoming;
      const before = pick(await findDocuments(query, collection.id, { name: file.name, sha256 }), file.name, sha256);
      if (before.kept) return before.kept;
      const document = { id: before.named?.id ?? newId(), collectionId: collection.id };
      const path = files.newFile(document, file.name);
      await incoming.keep(path);
      const content = { file: path, sha256, bytes };
      let added: DocumentResult | undefined;
      try {
        await given?.prepare(document);
        added = await database.transaction(async (inside) => {
          // Before rows of documents, as a reindex does.
          if (given) await inside("select 1 from rag_collections where id = $1 for no key update", [collection.id]);
          const entered = await enter(inside, { collection, file, document, content });
          if (entered && given)
            await inside("update rag_collections set dimension = coalesce(dimension, $2::integer) where id = $1", [
              collection.id,
              given.dimension,
            ]);
          return entered;
        });
      } finally {
        // Refused, or somebody else brought one of the same name or content meanwhile.
        if (!added) await incoming.takeBack();
      }
      if (added) {
        const { named } = before;
        // An earlier file that never became ready, unless it has become so meanwhile.
        if (named && named.file !== added.document.liveFile) await files.removeFiles([named.file]);
        return added;
      }
      if (left === 0) throw new Conflict(`${file.name} is being uploaded by someone else.`, { code: "document_busy" });
    }
  }

  /** In a transaction. Undefined: it is not as it was looked at before. */
  async function enter(
    inside: Query,
    {
      collection,
      file,
      document,
      content,
    }: {
      readonly collection: Collection;
      readonly file: Omit<NewFile, "bytes">;
      readonly document: { readonly id: string; readonly collectionId: string };
      readonly content: Pick<RagDocument, "file" | "sha256" | "bytes">;
    },
  ): Promise<DocumentResult | undefined> {
    // Locked: of two at once the second must see the first.
    await inside("select 1 from users where id = $1 for no key update", [collection.userId]);
    const { name, source } = file;
    const { named, kept } = pick(
      await findDocuments(inside, collection.id, { name, sha256: content.sha256 }),
      name,
      content.sha256,
    );
    if (kept || (named?.id ?? document.id) !== document.id) return undefined;
    const used = await documentsOf(inside, collection.userId);
    if (used.bytes - (named?.bytes ?? 0) + content.bytes > limits.bytes)
      throw exceeded(`Your documents may have ${inMegabytes(limits.bytes)} together (rag.userMb); remove some first.`);
    if (named)
      return { document: await replaceContent(inside, { id: named.id, source, ...content }), outcome: "replaced" };
    if (used.documents >= limits.documents)
      throw exceeded(`You have ${limits.documents} documents, which is the most (rag.userDocuments).`);
    const row = { ...document, userId: collection.userId, name, source, ...content };
    return { document: await insertDocument(inside, row), outcome: "added" };
  }

  const documents: Documents = {
    async add(caller, collectionId, { bytes, ...given }) {
      const collection = await collections.own(caller, collectionId);
      const file = { ...given, name: checkedName(given.name) };
      const incoming = await files.receive(bytes);
      try {
        if (incoming.bytes === 0) throw new InvalidInput(`${file.name} is empty.`, { code: "document_empty" });
        const added = await place(collection, file, incoming);
        onQueued();
        return added;
      } finally {
        await incoming.drop();
      }
    },
    async import(caller, collectionId, { name, source, bytes, text, chunks, content, made, dimension }) {
      const collection = await collections.own(caller, collectionId);
      const { settings, embeddingModel } = collection;
      const isCutAlike = settings.chunkSize === made.chunkSize && settings.chunkOverlap === made.chunkOverlap;
      if (!isCutAlike || embeddingModel !== made.embeddingModel)
        return documents.add(caller, collectionId, { name, source, bytes });
      const shape = {
        size: settings.chunkSize,
        dimension: embeddingModel === "none" ? null : (collection.dimension ?? dimension ?? null),
      };
      const file = { name: checkedName(name), source };
      const received: StagedFile[] = [];
      try {
        for (const part of [bytes, text, chunks]) received.push(await files.receive(part));
        const [original, textPart, chunksPart] = received as [StagedFile, StagedFile, StagedFile];
        const given = { content, textFile: textPart.place, chunksFile: chunksPart.place };
        const added = await place(collection, file, original, {
          dimension: shape.dimension,
          async prepare(document) {
            const { sha256 } = original;
            await stageExportedChunks(await openStagingFolder(files, document, { sha256, collection }), given, shape);
          },
        });
        onQueued();
        return added;
      } finally {
        for (const part of received) await part.drop();
      }
    },
    async chunks(caller, id, page) {
      await readable(caller, id);
      return readChunks(query, id, page);
    },
    async exportChunks(caller, id) {
      const { collectionId } = await readable(caller, id);
      const { embeddingModel } = await collections.get(caller, collectionId);
      return linesOfChunks(query, id, embeddingModel);
    },
    async addUrl(caller, collectionId, url) {
      const collection = await collections.own(caller, collectionId);
      const { name, href } = checkedUrl(url);
      const source = { kind: "url", url: href } as const;
      const content = { file: null, sha256: null, bytes: 0 };
      const added = await database.transaction(async (inside): Promise<DocumentResult> => {
        await inside("select 1 from users where id = $1 for no key update", [collection.userId]);
        const named = (await findDocuments(inside, collection.id, { name, sha256: null })).find(
          (document) => document.name === name,
        );
        if (named)
          return { document: await replaceContent(inside, { id: named.id, source, ...content }), outcome: "replaced" };
        const used = await documentsOf(inside, collection.userId);
        if (used.documents >= limits.documents)
          throw exceeded(`You have ${limits.documents} documents, which is the most (rag.userDocuments).`);
        const row = { id: newId(), collectionId: collection.id, userId: collection.userId, name, source, ...content };
        return { document: await insertDocument(inside, row), outcome: "added" };
      });
      onQueued();
      return added;
    },
    async list(caller, collectionId, page) {
      const { id } = await collections.get(caller, collectionId);
      return listDocuments(query, id, page);
    },
    get: readable,
    async original(caller, id) {
      const document = await readable(caller, id);
      const file = document.liveFile ?? document.file;
      if (file === null) throw new NotFound(`${document.name} was not fetched yet.`, { code: "file_not_found" });
      return { document, place: files.placeOf(file) };
    },
    async text(caller, id) {
      return readDocumentText(files, await readable(caller, id));
    },
    async retry(caller, id) {
      await own(caller, id);
      const document = await requeueDocument(query, id);
      onQueued();
      return document;
    },
    async remove(caller, id) {
      const document = await own(caller, id);
      await database.transaction(async (inside) => {
        await removeChunks(inside, id);
        await deleteDocument(inside, id);
      });
      await files.removeDocument(document);
    },
  };
  return documents;
}

async function* linesOfChunks(query: Query, documentId: string, model: string): AsyncGenerator<string> {
  for (let after = -1; ;) {
    const rows = await listChunks(query, { documentId, model, after, limit: 100 });
    if (rows.length === 0) return;
    yield rows
      .map(({ charStart, charEnd, page, headingPath, embedding }) => {
        const vector = embedding && Buffer.from(Float32Array.from(embedding).buffer).toString("base64");
        return `${JSON.stringify({ charStart, charEnd, page, headingPath, ...(vector && { embedding: vector }) })}\n`;
      })
      .join("");
    after = rows.at(-1)!.ordinal;
  }
}

/** Throws NotFound if it was never ready, or its text is gone. */
export async function readDocumentText(files: DocumentFiles, { name, textFile }: RagDocument): Promise<string> {
  if (textFile === null) throw new NotFound(`${name} has not been read yet.`, { code: "document_not_ready" });
  return readFile(files.placeOf(textFile), "utf8").catch((cause: unknown) => {
    throw new NotFound(`The text of ${name} is not here.`, { code: "file_not_found", cause });
  });
}

/** Among those of the same name or content: the one that is replaced, or what makes another one needless. */
function pick(
  found: readonly RagDocument[],
  name: string,
  sha256: string | null,
): { readonly named?: RagDocument | undefined; readonly kept?: DocumentResult } {
  const named = found.find((document) => document.name === name);
  // A failed document is tried again.
  if (named && named.sha256 === sha256 && named.status !== "failed")
    return { kept: { document: named, outcome: "unchanged" } };
  // Under another name it may be read otherwise.
  const twin = found.find(
    (document) => document.sha256 === sha256 && document.name !== name && document.status !== "failed",
  );
  if (!named && twin) return { kept: { document: twin, outcome: "duplicate" } };
  return { named };
}

function checkedName(name: string): string {
  const plain = name
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, "")
    .trim();
  if (plain === "" || plain.length > maxNameLength)
    throw new InvalidInput(`A document's name has 1 to ${maxNameLength} characters.`, { param: "name" });
  return plain;
}

/** Its name is the address without what may be secret or says nothing: login and fragment. */
function checkedUrl(text: string): { readonly name: string; readonly href: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw new InvalidInput("url must be an address such as https://example.com/page, without a login.", {
      param: "url",
    });
  url.hash = "";
  return { name: checkedName(url.href), href: url.href };
}

function exceeded(message: string): InvalidInput {
  return new InvalidInput(message, { status: 413, code: "quota_exceeded" });
}

function inMegabytes(bytes: number): string {
  return `${Math.floor(bytes / 1024 / 1024)} MB`;
}

function noDocument(id: string): NotFound {
  return new NotFound(`Document ${isId(id) ? id : "of this id"} not found.`, { code: "document_not_found" });
}
