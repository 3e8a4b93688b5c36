import type { DocumentProgress } from "../../protocol/knowledge/documents.ts";
import { jsonText, plainText } from "../../protocol/base/json-text.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { documentColumns, type LeasedDocument, type RagDocument } from "./documents.ts";

/** How long a document stays taken without a sign of life. */
const leaseSeconds = 60;

/**
 * Takes the next document of the queue; undefined: none is due. One whose worker was not heard of for a minute is due again.
 * Who has the fewest at work comes first, so that one person's thousand documents don't keep another's from being read.
 */
export async function takeDocument(query: Query, lease: string): Promise<LeasedDocument | undefined> {
  const [row] = await query<RagDocument>(
    `with busy as (
       select user_id, count(*) as documents from rag_documents where status = 'working' and leased_until >= now() group by user_id),
     next as (
       select d.id from rag_documents d left join busy b on b.user_id = d.user_id
       where d.status in ('queued', 'working') and d.due_at <= now() and (d.leased_until is null or d.leased_until < now())
       order by coalesce(b.documents, 0), d.due_at, d.id limit 1 for update of d skip locked)
     update rag_documents set status = 'working', lease = $1, leased_until = now() + $2 * interval '1 second', attempts = attempts + 1,
       updated_at = now()
     where id = (select id from next) returning ${documentColumns}`,
    [lease, leaseSeconds],
  );
  return row && { ...row, lease };
}

/** Tells that it is worked on, and how far it is. False: somebody else has it, or it is gone. */
export async function touchDocument(
  query: Query,
  { id, lease }: Pick<LeasedDocument, "id" | "lease">,
  progress: DocumentProgress,
): Promise<boolean> {
  const rows = await query(
    `update rag_documents set leased_until = now() + $3 * interval '1 second', progress = $4::jsonb where id = $1 and lease = $2 returning 1`,
    [id, lease, leaseSeconds, jsonText(progress)],
  );
  return rows.length > 0;
}

/** In a transaction: nobody else takes it until that ends. False as above. */
export async function holdDocument(
  query: Query,
  { id, lease }: Pick<LeasedDocument, "id" | "lease">,
): Promise<boolean> {
  const rows = await query("select 1 from rag_documents where id = $1 and lease = $2 for share", [id, lease]);
  return rows.length > 0;
}

/** Records the file that was fetched for a document. Returns false as above. */
export async function fetchedDocument(
  query: Query,
  { id, lease }: Pick<LeasedDocument, "id" | "lease">,
  { file, sha256, bytes }: Pick<RagDocument, "file" | "sha256" | "bytes">,
): Promise<boolean> {
  const rows = await query(
    "update rag_documents set file = $3, sha256 = $4, bytes = $5 where id = $1 and lease = $2 returning 1",
    [id, lease, file, sha256, bytes],
  );
  return rows.length > 0;
}

export type ReadDocument = Pick<
  RagDocument,
  "textFile" | "kind" | "mediaType" | "metadata" | "pages" | "characters" | "chunks"
>;

/**
 * In a transaction: the newest content becomes the one that is searched. Undefined as false above; else the row as it was,
 * whose files nobody needs any more.
 */
export async function finishDocument(
  query: Query,
  { id, lease }: Pick<LeasedDocument, "id" | "lease">,
  read: ReadDocument,
): Promise<RagDocument | undefined> {
  const [before] = await query<RagDocument>(
    `select ${documentColumns} from rag_documents where id = $1 and lease = $2 for update`,
    [id, lease],
  );
  if (!before) return undefined;
  const { textFile, kind, mediaType, metadata, pages, characters, chunks } = read;
  await query(
    `update rag_documents set status = 'ready', error = null, progress = '{}', lease = null, leased_until = null, attempts = 0,
       revision = revision + 1, live_file = file, live_sha256 = sha256, text_file = $2, kind = $3, media_type = $4, metadata = $5::jsonb,
       pages = $6, characters = $7, chunks = $8, updated_at = now(), ready_at = now()
     where id = $1`,
    [id, textFile, kind, mediaType, metadata === null ? null : jsonText(metadata), pages, characters, chunks],
  );
  return before;
}

/** Its newest content is the one that is searched already. False as above: then nothing has changed. */
export async function unchangedDocument(
  query: Query,
  { id, lease }: Pick<LeasedDocument, "id" | "lease">,
): Promise<boolean> {
  const rows = await query(
    `update rag_documents set status = 'ready', error = null, progress = '{}', lease = null, leased_until = null, attempts = 0,
       live_file = file, updated_at = now() where id = $1 and lease = $2 returning 1`,
    [id, lease],
  );
  return rows.length > 0;
}

/** It can't be read, or not now: with `retrySeconds` it is tried again then. */
export async function failDocument(
  query: Query,
  { id, lease }: Pick<LeasedDocument, "id" | "lease">,
  { error, retrySeconds }: { readonly error: string; readonly retrySeconds?: number | undefined },
): Promise<void> {
  await query(
    `update rag_documents set status = case when $4::float8 is null then 'failed' else 'queued' end, error = $3, lease = null,
       leased_until = null, due_at = now() + coalesce($4::float8, 0) * interval '1 second', updated_at = now()
     where id = $1 and lease = $2`,
    [id, lease, plainText(error).slice(0, 1000), retrySeconds ?? null],
  );
}

/** Given back untried, to be taken at once. */
export async function releaseDocument(
  query: Query,
  { id, lease }: Pick<LeasedDocument, "id" | "lease">,
): Promise<void> {
  await query(
    `update rag_documents set status = 'queued', lease = null, leased_until = null, attempts = greatest(attempts - 1, 0)
     where id = $1 and lease = $2`,
    [id, lease],
  );
}

/** At the start of the only process of a database: whoever held these is gone. */
export async function releaseAllDocuments(query: Query): Promise<void> {
  await query("update rag_documents set status = 'queued', lease = null, leased_until = null where status = 'working'");
}
