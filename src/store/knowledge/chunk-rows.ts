import type { ChunkView } from "../../protocol/knowledge/documents.ts";
import type { Chunk } from "../../protocol/knowledge/chunks.ts";
import type { Query } from "../../protocol/agents/tools.ts";

/** As it is kept, with the vector of the given model. */
export type ChunkRow = Chunk & { readonly embedding: readonly number[] | null };

export type ChunkPage = {
  /** An ordinal, exclusive. */
  readonly after?: number | undefined;
  /** A place in the text: those before it are left out. */
  readonly at?: number | undefined;
  readonly limit: number;
};

/** Reads the searched chunks of a document, in order. */
export function readChunks(
  query: Query,
  documentId: string,
  { after, at, limit }: ChunkPage,
): Promise<readonly ChunkView[]> {
  return query<ChunkView>(
    `select c.ordinal, c.char_start as "charStart", c.char_end as "charEnd", c.page, c.heading_path as "headingPath", c.text, c.tokens,
       greatest(0, coalesce((select p.char_end from rag_chunks p
         where p.document_id = c.document_id and p.revision = c.revision and p.ordinal = c.ordinal - 1), 0) - c.char_start) as overlap
     from rag_chunks c join rag_documents d on d.id = c.document_id and d.revision = c.revision
     where c.document_id = $1 and c.ordinal > $2 and c.char_end > $3 order by c.ordinal limit $4`,
    [documentId, after ?? -1, at ?? 0, limit],
  );
}

/** The next chunks of a document after an ordinal, in order. */
export async function listChunks(
  query: Query,
  {
    documentId,
    model,
    after,
    limit,
  }: { readonly documentId: string; readonly model: string; readonly after: number; readonly limit: number },
): Promise<readonly ChunkRow[]> {
  const rows = await query<Omit<ChunkRow, "page"> & { readonly page: number | null }>(
    `select c.ordinal, c.char_start as "charStart", c.char_end as "charEnd", c.page, c.heading_path as "headingPath", c.text, c.tokens,
       v.embedding::real[] as embedding
     from rag_chunks c join rag_documents d on d.id = c.document_id and d.revision = c.revision left join rag_vectors v on v.chunk_id = c.id and v.model = $2
     where c.document_id = $1 and c.ordinal > $3 order by c.ordinal limit $4`,
    [documentId, model, after, limit],
  );
  return rows.map(({ page, ...row }) => (page === null ? row : { ...row, page }));
}
