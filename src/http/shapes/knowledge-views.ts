import type { AddedView, DocumentView } from "../protocol/documents.ts";
import type { CollectionView } from "../protocol/collections.ts";
import type { CountedCollection } from "../knowledge/collections.ts";
import type { Added } from "../knowledge/documents.ts";
import type { RagDocument } from "../store/rag-documents.ts";

export function collectionView(view: CountedCollection, userId: string): CollectionView {
  const { id, name, description, owner, embeddingModel, dimension, settings, sharedWith, counts } = view;
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

export function addedView({ outcome, document }: Added): AddedView {
  return { outcome, document: documentView(document) };
}
