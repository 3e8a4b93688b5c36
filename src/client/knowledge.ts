import type { CollectionSettings, DocumentStatus, Retrieval } from "../protocol/knowledge.ts";
import { ask, type Asking, queryOf, type Server } from "./request.ts";

export type CollectionView = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly owner: string;
  readonly isOwn: boolean;
  readonly embeddingModel: string;
  readonly dimension: number | null;
  readonly settings: CollectionSettings;
  readonly sharedWith: readonly string[];
  readonly counts: Readonly<
    Record<"documents" | "queued" | "working" | "ready" | "failed" | "chunks" | "bytes", number>
  >;
};

export type DocumentView = {
  readonly id: string;
  readonly collectionId: string;
  readonly name: string;
  readonly source: { readonly kind: "file" | "upload" | "folder" | "url" | "session"; readonly url?: string };
  readonly bytes: number;
  readonly sha256: string | null;
  readonly status: DocumentStatus;
  readonly error: string | null;
  readonly progress: { readonly stage?: string; readonly done?: number; readonly total?: number };
  readonly revision: number;
  readonly kind: string | null;
  readonly mediaType: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly pages: number | null;
  readonly characters: number;
  readonly chunks: number;
};

export type AddedView = {
  readonly outcome: "added" | "replaced" | "unchanged" | "duplicate";
  readonly document: DocumentView;
};

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
  readonly retrieval?: Retrieval;
  readonly weight?: number;
  readonly limit?: number;
  readonly tokens?: number;
};

export type CandidateView = {
  readonly collectionId: string;
  readonly documentId: string;
  readonly documentName: string;
  readonly ordinal: number;
  readonly charStart: number;
  readonly charEnd: number;
  readonly page: number | null;
  readonly headingPath: readonly string[];
  readonly score: number;
  readonly lexical?: { readonly rank: number; readonly score: number };
  readonly vector?: { readonly rank: number; readonly similarity: number };
  readonly relevance?: number;
  readonly place?: number;
  readonly cut?: "rank" | "tokens" | "same";
};

export type KnowledgeAnswer = {
  readonly id: string;
  readonly passages: readonly (CandidateView & { readonly text: string })[];
  readonly trace: {
    readonly notes: readonly string[];
    readonly lexical: readonly string[];
    readonly vector: readonly string[];
    readonly candidates: readonly CandidateView[];
  };
};

/** Collections of documents. */
export type KnowledgeClient = {
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
  /** By name, a page; `after` is the last name of the one before. */
  documents(
    collectionId: string,
    page?: { readonly after?: string; readonly limit?: number; readonly status?: DocumentStatus },
    signal?: AbortSignal,
  ): Promise<readonly DocumentView[]>;
  document(id: string, signal?: AbortSignal): Promise<DocumentView>;
  /** A file, by its name. */
  addFile(
    collectionId: string,
    file: { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> },
    signal?: AbortSignal,
  ): Promise<AddedView>;
  addUrls(
    collectionId: string,
    urls: readonly string[],
    signal?: AbortSignal,
  ): Promise<{ readonly data: readonly AddedView[]; readonly problems: readonly { name: string; message: string }[] }>;
  /** With the parts `about`, `original`, `text` and `chunks`. */
  importDocument(collectionId: string, form: FormData, signal?: AbortSignal): Promise<AddedView>;
  retry(id: string, signal?: AbortSignal): Promise<DocumentView>;
  removeDocument(id: string, signal?: AbortSignal): Promise<void>;
  /** Its original, its text, or its chunks as lines of JSON. */
  content(id: string, part: "content" | "chunks", signal?: AbortSignal): Promise<Uint8Array>;
  text(id: string, signal?: AbortSignal): Promise<string>;
  query(question: KnowledgeQuestion, signal?: AbortSignal): Promise<KnowledgeAnswer>;
};

export function createKnowledgeClient(server: Server): KnowledgeClient {
  const answer = async <Answer>(path: string, asking: Asking = {}) =>
    (await (await ask(server, `/api/rag/${path}`, asking)).json()) as Answer;
  const remove = async (path: string, signal?: AbortSignal) => {
    await ask(server, `/api/rag/${path}`, { method: "DELETE", signal });
  };
  return {
    collections: async (signal) => (await answer<{ data: readonly CollectionView[] }>("collections", { signal })).data,
    create: (body, signal) => answer("collections", { method: "POST", body, signal }),
    collection: (id, signal) => answer(`collections/${id}`, { signal }),
    change: (id, body, signal) => answer(`collections/${id}`, { method: "PATCH", body, signal }),
    reindex: (id, body = {}, signal) => answer(`collections/${id}/reindex`, { method: "POST", body, signal }),
    removeCollection: (id, signal) => remove(`collections/${id}`, signal),
    documents: async (id, page = {}, signal) =>
      (await answer<{ data: readonly DocumentView[] }>(`collections/${id}/documents${queryOf(page)}`, { signal })).data,
    document: (id, signal) => answer(`documents/${id}`, { signal }),
    addFile: (id, { name, bytes }, signal) =>
      answer(`collections/${id}/files/${name.split("/").map(encodeURIComponent).join("/")}`, {
        method: "PUT",
        bytes,
        signal,
      }),
    addUrls: (id, urls, signal) => answer(`collections/${id}/documents`, { method: "POST", body: { urls }, signal }),
    importDocument: (id, form, signal) => answer(`collections/${id}/import`, { method: "POST", form, signal }),
    retry: (id, signal) => answer(`documents/${id}/retry`, { method: "POST", signal }),
    removeDocument: (id, signal) => remove(`documents/${id}`, signal),
    content: async (id, part, signal) => (await ask(server, `/api/rag/documents/${id}/${part}`, { signal })).bytes(),
    query: (body, signal) => answer("query", { method: "POST", body, signal }),
    async text(id, signal) {
      let text = "";
      for (;;) {
        const part = await answer<{ to: number; characters: number; text: string }>(
          `documents/${id}/text?from=${text.length}`,
          { signal },
        );
        text += part.text;
        if (part.to >= part.characters) return text;
      }
    },
  };
}
