import { NotFound } from "../../protocol/base/errors.ts";
import { isId } from "../../protocol/base/ids.ts";
import { jsonText, plainText } from "../../protocol/base/json-text.ts";
import type { Query } from "../../protocol/agents/tools.ts";

export type StoredTrace<Trace> = {
  readonly id: string;
  readonly question: string;
  /** The run that asked; null: a person did. */
  readonly runId: string | null;
  readonly createdAt: Date;
  readonly trace: Trace;
};

/** Traces kept per user; older ones are removed. */
const maxTraces = 500;

export async function addTrace(
  query: Query,
  {
    id,
    userId,
    collectionIds,
    runId,
    question,
    trace,
  }: {
    readonly id: string;
    readonly userId: string;
    readonly collectionIds: readonly string[];
    readonly runId: string | undefined;
    readonly question: string;
    readonly trace: object;
  },
): Promise<void> {
  // Ids are ordered by time.
  await query(
    `with old as (
       delete from rag_traces where user_id = $2
         and id <= (select id from rag_traces where user_id = $2 order by id desc offset ${maxTraces - 1} limit 1))
     insert into rag_traces (id, user_id, collection_ids, run_id, question, trace) values ($1, $2, $3::uuid[], $4, $5, $6::jsonb)`,
    [id, userId, collectionIds, runId ?? null, plainText(question), jsonText(trace)],
  );
}

/** Throws NotFound for what is not the user's. `collections`: the only ones that may have been searched; null: any. */
export async function getTrace<Trace>(
  query: Query,
  {
    userId,
    id,
    collections,
  }: { readonly userId: string; readonly id: string; readonly collections: readonly string[] | null },
): Promise<StoredTrace<Trace>> {
  const [row] = isId(id)
    ? await query<StoredTrace<Trace>>(
        `select id, question, run_id as "runId", created_at as "createdAt", trace from rag_traces
         where user_id = $1 and id = $2 and ($3::uuid[] is null or collection_ids <@ $3)`,
        [userId, id, collections],
      )
    : [];
  if (!row) throw new NotFound(`Trace ${id} not found.`, { code: "trace_not_found" });
  return row;
}

/** Newest first; `before` is an id, exclusive. */
export function listTraces(
  query: Query,
  {
    userId,
    collections,
    runId,
    before,
    limit,
  }: {
    readonly userId: string;
    readonly collections: readonly string[] | null;
    readonly runId?: string | undefined;
    readonly before?: string | undefined;
    readonly limit: number;
  },
): Promise<readonly Omit<StoredTrace<never>, "trace">[]> {
  return query(
    `select id, question, run_id as "runId", created_at as "createdAt" from rag_traces
     where user_id = $1 and ($2::uuid is null or run_id = $2) and ($3::uuid is null or id < $3)
       and ($5::uuid[] is null or collection_ids <@ $5) order by id desc limit $4`,
    [userId, runId ?? null, before ?? null, limit, collections],
  );
}
