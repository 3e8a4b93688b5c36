import type { DocumentProgress } from "../../protocol/knowledge/documents.ts";
import { NotFound } from "../../protocol/base/errors.ts";
import { isId } from "../../protocol/base/ids.ts";
import { jsonText, plainText } from "../../protocol/base/json-text.ts";
import type { DocumentStatus } from "../../protocol/knowledge/chunks.ts";
import type { Query } from "../../protocol/agents/tools.ts";

/** Where a document came from. */
export type DocumentSource =
  | { readonly kind: "file" }
  | { readonly kind: "upload"; readonly id: string }
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "session"; readonly threadId: string; readonly path: string };

export type RagDocument = {
  readonly id: string;
  readonly collectionId: string;
  readonly userId: string;
  /** Unique in its collection. */
  readonly name: string;
  readonly source: DocumentSource;
  /** The newest content, relative to the folder of all documents; null: it has not been fetched yet. */
  readonly file: string | null;
  readonly sha256: string | null;
  readonly bytes: number;
  /** Status of the newest content. The previous content is searched until this is ready. */
  readonly status: DocumentStatus;
  readonly error: string | null;
  readonly progress: DocumentProgress;
  readonly attempts: number;
  /** How often it became ready; 0: nothing of it is searched yet. */
  readonly revision: number;
  /** The content that is searched: its original file and its text, and the findings about it. */
  readonly liveFile: string | null;
  readonly liveSha256: string | null;
  readonly textFile: string | null;
  readonly kind: string | null;
  readonly mediaType: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly pages: number | null;
  readonly characters: number;
  readonly chunks: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly readyAt: Date | null;
};

/** One that this process works on, as long as nobody else took it. */
export type LeasedDocument = RagDocument & { readonly lease: string };

export const documentColumns = `id, collection_id as "collectionId", user_id as "userId", name, source, file, sha256, bytes::float8 as bytes, status,
  error, progress, attempts, revision, live_file as "liveFile", live_sha256 as "liveSha256", text_file as "textFile", kind,
  media_type as "mediaType", metadata, pages, characters, chunks, created_at as "createdAt", updated_at as "updatedAt",
  ready_at as "readyAt"`;

/** Finds a document by ID without checking access, which the collection decides. Throws NotFound. */
export async function getDocument(query: Query, id: string): Promise<RagDocument> {
  const [row] = isId(id)
    ? await query<RagDocument>(`select ${documentColumns} from rag_documents where id = $1`, [id])
    : [];
  if (!row) throw noDocument(id);
  return row;
}

export type DocumentPage = {
  readonly status?: DocumentStatus | undefined;
  /** Some of the name, in any case. */
  readonly search?: string | undefined;
  /** A name, exclusive: the page after it. */
  readonly after?: string | undefined;
  readonly limit: number;
};

/** Lists documents by name. */
export function listDocuments(
  query: Query,
  collectionId: string,
  { status, search, after, limit }: DocumentPage,
): Promise<readonly RagDocument[]> {
  return query<RagDocument>(
    `select ${documentColumns} from rag_documents
     where collection_id = $1 and ($2::text is null or status = $2) and ($3::text is null or name > $3)
       and ($5::text is null or position(lower($5) in lower(name)) > 0) order by name limit $4`,
    [
      collectionId,
      status ?? null,
      after === undefined ? null : plainText(after),
      limit,
      search === undefined ? null : plainText(search),
    ],
  );
}

/** Some of them, in any order. */
export async function listDocumentIds(query: Query, collectionId: string, limit = 100): Promise<readonly string[]> {
  const rows = await query<{ id: string }>("select id from rag_documents where collection_id = $1 limit $2", [
    collectionId,
    limit,
  ]);
  return rows.map(({ id }) => id);
}

/** The files that rows name, by document. */
export async function filesOfDocuments(
  query: Query,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly (string | null)[]>> {
  const rows = await query<Pick<RagDocument, "id" | "file" | "liveFile" | "textFile">>(
    `select id, file, live_file as "liveFile", text_file as "textFile" from rag_documents where id = any ($1::uuid[])`,
    [ids],
  );
  return new Map(rows.map(({ id, file, liveFile, textFile }) => [id, [file, liveFile, textFile]]));
}

/** Finds documents with the same content or the same name in a collection. */
export function findDocuments(
  query: Query,
  collectionId: string,
  { name, sha256 }: { readonly name: string; readonly sha256: string | null },
): Promise<readonly RagDocument[]> {
  return query<RagDocument>(
    `select ${documentColumns} from rag_documents where collection_id = $1 and (name = $2 or sha256 = $3) order by id`,
    [collectionId, plainText(name), sha256],
  );
}

/** Returns the total of a user's documents. */
export async function documentsOf(
  query: Query,
  userId: string,
): Promise<{ readonly documents: number; readonly bytes: number }> {
  const [row] = await query<{ documents: number; bytes: number }>(
    "select count(*)::integer as documents, coalesce(sum(bytes), 0)::float8 as bytes from rag_documents where user_id = $1",
    [userId],
  );
  return row!;
}

export type NewDocument = Pick<
  RagDocument,
  "id" | "collectionId" | "userId" | "name" | "source" | "file" | "sha256" | "bytes"
>;

/** In the queue. */
export async function insertDocument(query: Query, document: NewDocument): Promise<RagDocument> {
  const { id, collectionId, userId, name, source, file, sha256, bytes } = document;
  const [row] = await query<RagDocument>(
    `insert into rag_documents (id, collection_id, user_id, name, source, file, sha256, bytes, status)
     values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, 'queued') returning ${documentColumns}`,
    [id, collectionId, userId, plainText(name), jsonText(source), file, sha256, bytes],
  );
  return row!;
}

/** Back into the queue with another content; whoever works on the one before loses it. */
export async function replaceContent(
  query: Query,
  { id, source, file, sha256, bytes }: Pick<RagDocument, "id" | "source" | "file" | "sha256" | "bytes">,
): Promise<RagDocument> {
  const [row] = await query<RagDocument>(
    `update rag_documents set source = $2::jsonb, file = $3, sha256 = $4, bytes = $5, status = 'queued', error = null, progress = '{}',
       attempts = 0, due_at = now(), lease = null, leased_until = null, updated_at = now()
     where id = $1 returning ${documentColumns}`,
    [id, jsonText(source), file, sha256, bytes],
  );
  if (!row) throw noDocument(id);
  return row;
}

/** Back into the queue as it is; `redo`: also what is ready is made anew. */
export async function requeueDocument(query: Query, id: string): Promise<RagDocument> {
  const [row] = await query<RagDocument>(
    `update rag_documents set status = 'queued', error = null, progress = '{}', attempts = 0, due_at = now(), lease = null,
       leased_until = null, live_sha256 = null, updated_at = now() where id = $1 returning ${documentColumns}`,
    [id],
  );
  if (!row) throw noDocument(id);
  return row;
}

/** All of a collection are made anew; how many. */
export async function requeueCollection(query: Query, collectionId: string): Promise<number> {
  const rows = await query(
    `update rag_documents set status = 'queued', error = null, progress = '{}', attempts = 0, due_at = now(), lease = null,
       leased_until = null, live_sha256 = null, updated_at = now() where collection_id = $1 returning 1`,
    [collectionId],
  );
  return rows.length;
}

/** The removed row, for its files. */
export async function deleteDocument(query: Query, id: string): Promise<RagDocument | undefined> {
  const [row] = await query<RagDocument>(`delete from rag_documents where id = $1 returning ${documentColumns}`, [id]);
  return row;
}

function noDocument(id: string): NotFound {
  return new NotFound(`Document ${id} not found.`, { code: "document_not_found" });
}
