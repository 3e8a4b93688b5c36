import type { DocumentResultView, DocumentView } from "../../protocol/knowledge/documents.ts";
import type { CollectionView } from "../../protocol/knowledge/collections.ts";
import type { CountedCollection } from "../../knowledge/documents/collections.ts";
import type { DocumentResult } from "../../knowledge/documents/documents.ts";
import type { RagDocument } from "../../store/knowledge/documents.ts";

export function collectionView(view: CountedCollection, userId: string): CollectionView {
  const { id, name, description, owner, embeddingModel, dimension, settings, sharedWith, counts, indexing } = view;
  const isOwn = view.userId === userId;
  return {
    id,
    name,
    description,
    owner,
    isOwn,
    embeddingModel,
    dimension,
    settings,
    // With whom else is between the owner and them.
    sharedWith: isOwn ? sharedWith : [],
    counts,
    ...(indexing !== undefined && { indexing }),
    createdAt: view.createdAt.toISOString(),
    updatedAt: view.updatedAt.toISOString(),
  };
}

export function documentView(document: RagDocument): DocumentView {
  const { id, collectionId, name, source, bytes, sha256, status, error, progress, revision } = document;
  const { kind, mediaType, metadata, pages, characters, chunks, createdAt, updatedAt, readyAt } = document;
  return {
    id,
    collectionId,
    name,
    source,
    bytes,
    sha256,
    status,
    error,
    progress,
    revision,
    kind,
    mediaType,
    metadata,
    pages,
    characters,
    chunks,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    readyAt: readyAt?.toISOString() ?? null,
  };
}

export function addedView({ outcome, document }: DocumentResult): DocumentResultView {
  return { outcome, document: documentView(document) };
}
