import type { KnowledgeAnswer, TracePlace, KeptTrace } from "../protocol/knowledge/passages.ts";
import type {
  DocumentView,
  DocumentResultView,
  ChunkView,
  TextPart,
  DocumentResultsView,
} from "../protocol/knowledge/documents.ts";
import type { CollectionView, KnowledgeChoices } from "../protocol/knowledge/collections.ts";
import type { CollectionSettings, DocumentStatus, RetrievalMode } from "../protocol/knowledge/chunks.ts";
import {
  addressAt,
  ask,
  type ClientRequest,
  askJson,
  askList,
  encodedPath,
  queryOf,
  type ServerAccess,
} from "./request.ts";
import { sendFile, type SendOptions } from "./send-file.ts";

export type CollectionInput = {
  readonly name: string;
  readonly description?: string;
  readonly embeddingModel?: string;
  readonly settings?: Partial<CollectionSettings>;
};

export type KnowledgeQuestion = {
  readonly question: string;
  /** Ids or names. */
  readonly collections?: readonly string[];
  readonly retrieval?: RetrievalMode;
  readonly weight?: number;
  readonly limit?: number;
  readonly tokens?: number;
};

/** Client for collections of documents. */
export type KnowledgeClient = {
  choices(signal?: AbortSignal): Promise<KnowledgeChoices>;
  collections(signal?: AbortSignal): Promise<readonly CollectionView[]>;
  create(collection: CollectionInput, signal?: AbortSignal): Promise<CollectionView>;
  collection(id: string, signal?: AbortSignal): Promise<CollectionView>;
  change(
    id: string,
    change: Partial<Omit<CollectionInput, "embeddingModel">> & { readonly sharedWith?: readonly string[] },
    signal?: AbortSignal,
  ): Promise<CollectionView>;
  reindex(id: string, change?: Partial<CollectionInput>, signal?: AbortSignal): Promise<CollectionView>;
  removeCollection(id: string, signal?: AbortSignal): Promise<void>;
  /** Lists documents by name; `after` is the last name of the previous page. */
  documents(
    collectionId: string,
    page?: {
      readonly after?: string;
      readonly limit?: number;
      readonly status?: DocumentStatus;
      /** Part of the name. */
      readonly search?: string;
    },
    signal?: AbortSignal,
  ): Promise<readonly DocumentView[]>;
  document(id: string, signal?: AbortSignal): Promise<DocumentView>;
  /** A file, by its name. */
  addFile(
    collectionId: string,
    file: { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> },
    signal?: AbortSignal,
  ): Promise<DocumentResultView>;
  /** The same in a browser, with upload progress. */
  sendFile(
    collectionId: string,
    file: { readonly name: string; readonly content: Blob },
    options?: SendOptions,
  ): Promise<DocumentResultView>;
  addText(
    collectionId: string,
    text: { readonly name: string; readonly text: string },
    signal?: AbortSignal,
  ): Promise<DocumentResultView>;
  addUrls(collectionId: string, urls: readonly string[], signal?: AbortSignal): Promise<DocumentResultsView>;
  /** With the parts `about`, `original`, `text` and `chunks`. */
  importDocument(collectionId: string, form: FormData, signal?: AbortSignal): Promise<DocumentResultView>;
  retry(id: string, signal?: AbortSignal): Promise<DocumentView>;
  removeDocument(id: string, signal?: AbortSignal): Promise<void>;
  /** Its original, its text, or its chunks as lines of JSON. */
  content(id: string, part: "content" | "chunks", signal?: AbortSignal): Promise<Uint8Array>;
  /** URL of the original. */
  addressOf(id: string): string;
  text(id: string, signal?: AbortSignal): Promise<string>;
  textPart(id: string, part: { readonly from: number; readonly to: number }, signal?: AbortSignal): Promise<TextPart>;
  /** A page in order, after an ordinal or from a place in the text. */
  chunks(
    id: string,
    page?: { readonly after?: number; readonly at?: number; readonly limit?: number },
    signal?: AbortSignal,
  ): Promise<readonly ChunkView[]>;
  query(question: KnowledgeQuestion, signal?: AbortSignal): Promise<KnowledgeAnswer>;
  /** Lists the caller's searches, newest first; `before` is the last ID of the previous page. */
  traces(
    page?: { readonly before?: string; readonly limit?: number; readonly run?: string },
    signal?: AbortSignal,
  ): Promise<readonly TracePlace[]>;
  trace(id: string, signal?: AbortSignal): Promise<KeptTrace>;
};

export function createKnowledgeClient(server: ServerAccess): KnowledgeClient {
  const answer = <Answer>(path: string, asking?: ClientRequest) => askJson<Answer>(server, `/api/rag/${path}`, asking);
  const list = <Entry>(path: string, signal?: AbortSignal) => askList<Entry>(server, `/api/rag/${path}`, { signal });
  const remove = async (path: string, signal?: AbortSignal) => {
    await ask(server, `/api/rag/${path}`, { method: "DELETE", signal });
  };
  const fileOf = (id: string, name: string) => `collections/${id}/files/${encodedPath(name)}`;
  return {
    choices: (signal) => answer("choices", { signal }),
    collections: (signal) => list("collections", signal),
    create: (body, signal) => answer("collections", { method: "POST", body, signal }),
    collection: (id, signal) => answer(`collections/${id}`, { signal }),
    change: (id, body, signal) => answer(`collections/${id}`, { method: "PATCH", body, signal }),
    reindex: (id, body = {}, signal) => answer(`collections/${id}/reindex`, { method: "POST", body, signal }),
    removeCollection: (id, signal) => remove(`collections/${id}`, signal),
    documents: (id, page = {}, signal) => list(`collections/${id}/documents${queryOf(page)}`, signal),
    document: (id, signal) => answer(`documents/${id}`, { signal }),
    addFile: (id, { name, bytes }, signal) => answer(fileOf(id, name), { method: "PUT", bytes, signal }),
    sendFile: async (id, { name, content }, options) =>
      (await (await sendFile(server, `/api/rag/${fileOf(id, name)}`, content, options)).json()) as DocumentResultView,
    async addText(id, body, signal) {
      const path = `collections/${id}/documents`;
      const { data } = await answer<DocumentResultsView>(path, { method: "POST", body, signal });
      return data[0]!;
    },
    addUrls: (id, urls, signal) => answer(`collections/${id}/documents`, { method: "POST", body: { urls }, signal }),
    importDocument: (id, form, signal) => answer(`collections/${id}/import`, { method: "POST", form, signal }),
    retry: (id, signal) => answer(`documents/${id}/retry`, { method: "POST", signal }),
    removeDocument: (id, signal) => remove(`documents/${id}`, signal),
    content: async (id, part, signal) => (await ask(server, `/api/rag/documents/${id}/${part}`, { signal })).bytes(),
    addressOf: (id) => addressAt(server, `/api/rag/documents/${id}/content`),
    textPart: (id, part, signal) => answer(`documents/${id}/text${queryOf(part)}`, { signal }),
    chunks: (id, page = {}, signal) => list(`documents/${id}/passages${queryOf(page)}`, signal),
    traces: (page = {}, signal) => list(`traces${queryOf(page)}`, signal),
    trace: (id, signal) => answer(`traces/${id}`, { signal }),
    query: (body, signal) => answer("query", { method: "POST", body, signal }),
    async text(id, signal) {
      let text = "";
      for (;;) {
        const part = await answer<TextPart>(`documents/${id}/text?from=${text.length}`, { signal });
        text += part.text;
        if (part.to >= part.characters) return text;
      }
    },
  };
}
