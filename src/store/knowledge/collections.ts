import type { CollectionCounts } from "../../protocol/knowledge/collections.ts";
import { Conflict, NotFound } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import { jsonText, plainText } from "../../protocol/base/json-text.ts";
import type { CollectionSettings } from "../../protocol/knowledge/chunks.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { sqlState, uniqueViolation } from "../driver/sql-state.ts";

export type Collection = {
  readonly id: string;
  /** The owner: who may change it. */
  readonly userId: string;
  readonly owner: string;
  readonly name: string;
  readonly description: string;
  readonly settings: CollectionSettings;
  /** `none`, `http:…`, `onnx:…` or `gguf:…`. */
  readonly embeddingModel: string;
  /** Dimension of its embeddings; null while it has none. */
  readonly dimension: number | null;
  /** Who else may search and read it: `everyone`, `user:<name>`, `group:<name>`. */
  readonly sharedWith: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

const columns = `c.id, c.user_id as "userId", u.name as owner, c.name, c.description, c.settings, c.embedding_model as "embeddingModel",
  c.dimension, (
    select coalesce(jsonb_agg(who), '[]') from (
      select case when s like 'user:%' then (select 'user:' || name from users where id::text = substr(s, 6)) else s end as who
      from jsonb_array_elements_text(c.shared_with) s) names where who is not null) as "sharedWith", c.created_at as "createdAt", c.updated_at as "updatedAt"`;

/** Whether it is shared with the user $1 or a group of theirs. */
const sharedWithThem = `c.shared_with ?| (
  select array_agg(s.who) from (
    select 'user:' || $1::text as who
    union all select 'group:' || group_name from group_members where user_id = $1) s)`;

/** Whether the user $1 is the owner, or it is shared with them. */
const readable = `c.removed_at is null and (c.user_id = $1 or c.shared_with ? 'everyone' or ${sharedWithThem})`;

/** Throws Conflict `collection_exists`. */
export async function createCollection(
  query: Query,
  collection: Pick<Collection, "userId" | "name" | "description" | "settings" | "embeddingModel">,
): Promise<string> {
  const { userId, name, description, settings, embeddingModel } = collection;
  const id = newId();
  await named(name, () =>
    query(
      `insert into rag_collections (id, user_id, name, description, settings, embedding_model) values ($1, $2, $3, $4, $5::jsonb, $6)`,
      [id, userId, plainText(name), plainText(description), jsonText(settings), plainText(embeddingModel)],
    ),
  );
  return id;
}

/** Throws NotFound for one that the user may not read. */
export async function getCollection(query: Query, userId: string, id: string): Promise<Collection> {
  const [row] = isId(id)
    ? await query<Collection>(
        `select ${columns} from rag_collections c join users u on u.id = c.user_id where c.id = $2 and ${readable}`,
        [userId, id],
      )
    : [];
  if (!row) throw noCollection(id);
  return row;
}

/** All that the user may read: own ones, then those shared with them or a group of theirs, then those of everyone. */
export function listCollections(query: Query, userId: string): Promise<readonly Collection[]> {
  return query<Collection>(
    `select ${columns} from rag_collections c join users u on u.id = c.user_id where ${readable}
     order by c.user_id <> $1, not ${sharedWithThem}, c.name, u.name limit 1000`,
    [userId],
  );
}

/** Finds a collection by ID without checking access, for work that was accepted before. */
export async function findCollection(query: Query, id: string): Promise<Collection | undefined> {
  const [row] = await query<Collection>(
    `select ${columns} from rag_collections c join users u on u.id = c.user_id where c.id = $1 and c.removed_at is null`,
    [id],
  );
  return row;
}

/** Finds a user's own collection by name. */
export async function findOwnCollection(query: Query, userId: string, name: string): Promise<Collection | undefined> {
  const [row] = await query<Collection>(
    `select ${columns} from rag_collections c join users u on u.id = c.user_id
     where c.user_id = $1 and c.name = $2 and c.removed_at is null`,
    [userId, plainText(name)],
  );
  return row;
}

export type CollectionChange = {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly settings?: CollectionSettings | undefined;
  /** Users are given by ID (`user:<id>`), since a name may later belong to somebody else. */
  readonly sharedWith?: readonly string[] | undefined;
  readonly embeddingModel?: string | undefined;
  /** null: it has no embeddings any more. */
  readonly dimension?: number | null | undefined;
};

/** Leaves what is absent as it is. Throws Conflict `collection_exists`. */
export async function changeCollection(query: Query, id: string, change: CollectionChange): Promise<void> {
  const { name, description, settings, sharedWith, embeddingModel, dimension } = change;
  await named(name ?? "", () =>
    query(
      `update rag_collections set name = coalesce($2, name), description = coalesce($3, description), settings = coalesce($4::jsonb, settings),
         shared_with = coalesce($5::jsonb, shared_with), embedding_model = coalesce($6, embedding_model),
         dimension = case when $7 then $8::integer else dimension end, updated_at = now()
       where id = $1`,
      [
        id,
        name === undefined ? null : plainText(name),
        description === undefined ? null : plainText(description),
        settings === undefined ? null : jsonText(settings),
        sharedWith === undefined ? null : jsonText(sharedWith),
        embeddingModel === undefined ? null : plainText(embeddingModel),
        dimension !== undefined,
        dimension ?? null,
      ],
    ),
  );
}

/** Nobody finds it any more, and its name is free; what is in it goes by and by. */
export async function hideCollection(query: Query, id: string): Promise<void> {
  await query("update rag_collections set removed_at = now(), name = id::text || ' ' || name where id = $1", [id]);
}

/** Those whose removal has begun. */
export async function removedCollections(query: Query): Promise<readonly string[]> {
  const rows = await query<{ id: string }>("select id from rag_collections where removed_at is not null");
  return rows.map(({ id }) => id);
}

/** The rows of its documents go with it. */
export async function deleteCollection(query: Query, id: string): Promise<void> {
  await query("delete from rag_collections where id = $1", [id]);
}

/** Counts documents by collection; empty collections are absent. */
export async function countDocuments(
  query: Query,
  collectionIds: readonly string[],
): Promise<ReadonlyMap<string, CollectionCounts>> {
  const rows = await query<CollectionCounts & { readonly id: string }>(
    `select collection_id as id, count(*)::integer as documents, coalesce(sum(chunks), 0)::integer as chunks,
       coalesce(sum(bytes), 0)::float8 as bytes,
       count(*) filter (where status = 'queued')::integer as queued, count(*) filter (where status = 'working')::integer as working,
       count(*) filter (where status = 'ready')::integer as ready, count(*) filter (where status = 'failed')::integer as failed
     from rag_documents where collection_id = any ($1::uuid[]) group by collection_id`,
    [collectionIds],
  );
  return new Map(rows.map(({ id, ...counts }) => [id, counts]));
}

/** Which of these ids are of collections that there are. */
export async function existingCollections(query: Query, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await query<{ id: string }>("select id from rag_collections where id = any ($1::uuid[])", [ids]);
  return new Set(rows.map(({ id }) => id));
}

async function named(name: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (sqlState(error) !== uniqueViolation) throw error;
    throw new Conflict(`You have a collection ${name} already.`, { code: "collection_exists", cause: error });
  }
}

function noCollection(id: string): NotFound {
  return new NotFound(`Collection ${id} not found.`, { code: "collection_not_found" });
}
