import { InvalidInput, NotFound } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import { jsonText, plainText } from "../../protocol/base/json-text.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database } from "../driver/database.ts";

export type Upload = {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly bytes: number;
  /** `receiving`: not all of it is here. `reading`: what it holds is being found out. */
  readonly state: "receiving" | "reading" | "ready";
  /** Relative to the folder of all uploads. */
  readonly file: string;
  readonly sha256: string | null;
  readonly kind: string | null;
  readonly mediaType: string | null;
  /** Metadata from its content; null if unreadable. */
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** Why its content can't be read. */
  readonly problem: string | null;
  readonly createdAt: Date;
};

export type UploadLimits = { readonly files: number; readonly bytes: number };

/** Findings about the content, once it is complete. */
export type UploadContent = Pick<Upload, "kind" | "mediaType" | "metadata" | "problem">;

const columns = `id, user_id as "userId", name, bytes::float8 as bytes, state, file, sha256, kind, media_type as "mediaType", metadata, problem,
  created_at as "createdAt"`;

/**
 * Takes its place among the user's files before a byte of it is written; of unknown length (`most`), as much as is left, and
 * that at most. Throws InvalidInput (413) `quota_exceeded`.
 */
export async function beginUpload(
  { transaction }: Pick<Database, "transaction">,
  upload: {
    readonly userId: string;
    readonly name: string;
    readonly bytes: number | { readonly most: number };
    readonly file: (id: string) => string;
  },
  limits: UploadLimits,
): Promise<Upload> {
  const id = newId();
  return transaction(async (query) => {
    // Locked: of two at once the second must see the first.
    await query("select 1 from users where id = $1 for no key update", [upload.userId]);
    const [used] = await query<{ files: number; bytes: number }>(
      "select count(*)::integer as files, coalesce(sum(bytes), 0)::float8 as bytes from uploads where user_id = $1",
      [upload.userId],
    );
    if (used!.files >= limits.files)
      throw exceeded(`You have ${limits.files} files, which is the most; delete some first.`);
    const left = limits.bytes - used!.bytes;
    const bytes = typeof upload.bytes === "number" ? upload.bytes : Math.min(upload.bytes.most, left);
    if (bytes > left || left <= 0)
      throw exceeded(
        `Your files may have ${inMegabytes(limits.bytes)} together; ${inMegabytes(limits.bytes - used!.bytes)} are left.`,
      );
    const [row] = await query<Upload>(
      `insert into uploads (id, user_id, name, bytes, state, file) values ($1, $2, $3, $4, 'receiving', $5) returning ${columns}`,
      [id, upload.userId, plainText(upload.name), bytes, upload.file(id)],
    );
    return row!;
  });
}

/** Throws NotFound for what is not the user's. */
export async function getUpload(query: Query, userId: string, id: string): Promise<Upload> {
  const [row] = isId(id)
    ? await query<Upload>(`select ${columns} from uploads where id = $1 and user_id = $2`, [id, userId])
    : [];
  if (!row) throw new NotFound(`File ${id} not found.`, { code: "file_not_found" });
  return row;
}

/** Whoever's it is. Undefined: it is not there. */
export async function findUploadFile(query: Query, id: string): Promise<string | undefined> {
  const [row] = await query<{ file: string }>("select file from uploads where id = $1", [id]);
  return row?.file;
}

/** Newest first; `before` is an id, exclusive. */
export function listUploads(
  query: Query,
  { userId, before, limit }: { readonly userId: string; readonly before?: string; readonly limit: number },
): Promise<readonly Upload[]> {
  return query<Upload>(
    `select ${columns} from uploads where user_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3`,
    [userId, before ?? null, limit],
  );
}

/** All of it is here. Undefined: it was removed meanwhile, or finished by somebody else. */
export async function receivedUpload(
  query: Query,
  { id, bytes, sha256 }: Pick<Upload, "id" | "bytes"> & { readonly sha256: string },
): Promise<Upload | undefined> {
  const [row] = await query<Upload>(
    `update uploads set state = 'reading', bytes = $2, sha256 = $3 where id = $1 and state = 'receiving' returning ${columns}`,
    [id, bytes, sha256],
  );
  return row;
}

export async function readUpload(query: Query, id: string, content: UploadContent): Promise<Upload | undefined> {
  const { kind, mediaType, metadata, problem } = content;
  const [row] = await query<Upload>(
    `update uploads set state = 'ready', kind = $2, media_type = $3, metadata = $4::json, problem = $5 where id = $1 returning ${columns}`,
    [id, kind, mediaType, metadata === null ? null : jsonText(metadata), problem && plainText(problem).slice(0, 500)],
  );
  return row;
}

export async function removeUpload(query: Query, id: string): Promise<void> {
  await query("delete from uploads where id = $1", [id]);
}

/** Removes what was begun so many hours ago and never finished; their files. */
export async function removeAbandoned(query: Query, hours: number): Promise<readonly Pick<Upload, "file">[]> {
  return query<Pick<Upload, "file">>(
    "delete from uploads where state = 'receiving' and created_at < now() - $1 * interval '1 hour' returning file",
    [hours],
  );
}

export type AttachedUpload = { readonly id: string; readonly file: string; readonly path: string };

/** The files that messages of a thread brought, by id; the same file may have come more than once. */
export function listAttached(query: Query, threadId: string): Promise<readonly AttachedUpload[]> {
  return query(
    `select u.id, u.file, f ->> 'path' as path from items i, jsonb_array_elements(i.body -> 'files') f
     join uploads u on u.id = (f ->> 'id')::uuid
     where i.thread_id = $1 and i.kind = 'message' and i.body ? 'files' and u.state <> 'receiving' and u.user_id = i.user_id order by i.seq`,
    [threadId],
  );
}

function exceeded(message: string): InvalidInput {
  return new InvalidInput(message, { status: 413, code: "quota_exceeded" });
}

function inMegabytes(bytes: number): string {
  return `${Math.max(0, Math.floor(bytes / 1024 / 1024))} MB`;
}
