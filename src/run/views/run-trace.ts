import { NotFound } from "../../protocol/base/errors.ts";
import { isId } from "../../protocol/base/ids.ts";
import type { Item, ItemKind } from "../../protocol/threads/items.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { LedgerRow, TakeView, TracedItem, TracedModelCall } from "../../protocol/threads/run-trace.ts";
import type { RunTrace, TracedRun } from "../traced-run.ts";
import { type ItemRow, itemColumns, type RunRow, runColumns, toItem, toRun } from "../log/rows.ts";

export type TraceQuery = {
  readonly runId: string;
  /** Only of this user's runs; absent: of anybody's. */
  readonly userId?: string;
  /** Maximum of items, of model calls and of writes; the newest are returned. */
  readonly most?: number;
};

const maxRuns = 100;
const usualMost = 500;

export async function readTrace(query: Query, asked: TraceQuery): Promise<RunTrace> {
  const most = asked.most ?? usualMost;
  const runs = await readTree(query, asked);
  const ids = runs.map(({ id }) => id);
  const [items, modelCalls, ledger] = await Promise.all([
    readItems(query, ids, most),
    readModelCalls(query, ids, most),
    readLedger(query, ids, most),
  ]);
  const whole = runs.length < maxRuns && [items, modelCalls, ledger].every(({ length }) => length < most);
  return { runs, items, modelCalls, ledger, whole };
}

/** Reads the runs of a tree; of another user's tree only the caller's own: in a room a turn works for whoever called the agent. */
async function readTree(query: Query, { runId, userId }: TraceQuery): Promise<TracedRun[]> {
  type Row = RunRow & { parent_call: string | null; takes: readonly TakeView[] };
  const rows = await query<Row>(
    `with recursive tree as (
       select id from runs where id = $1 and ($2::uuid is null or user_id = $2)
       union all select r.id from runs r join tree t on r.parent_run = t.id where $2::uuid is null or r.user_id = $2)
     select ${runColumns}, parent_call, takes from runs where id in (select id from tree limit ${maxRuns}) order by id <> $1, id`,
    [runId, userId ?? null],
  );
  return rows.map(({ parent_call, takes, ...row }) => ({
    ...toRun(row),
    parentCall: parent_call,
    takes: takes.map(({ epoch, node, at, over }) => ({ epoch, node, at: new Date(at).toISOString(), over })),
  }));
}

const maxText = 300;

/** The words of a content, which is text or parts. */
export function wordsOf(content: string): string {
  return `case jsonb_typeof(${content}) when 'string' then ${content} #>> '{}'
    else jsonb_path_query_first(${content}, '$[*].text') #>> '{}' end`;
}

async function readItems(query: Query, runIds: readonly string[], most: number): Promise<TracedItem[]> {
  type Row = Omit<ItemRow, "thread_id" | "parent_id" | "body" | "kind"> & {
    kind: ItemKind;
    text: string | null;
    cut: boolean;
    facts: Readonly<Record<string, unknown>>;
  };
  const rows = await query<Row>(
    // Each body is taken apart once: for each field that is read of a large one it would be decompressed anew.
    `with newest as (
       select i.thread_id, i.seq from unnest($1::uuid[]) as one (id)
         cross join lateral (select thread_id, seq, created_at from items where run_id = one.id order by seq desc limit $2) i
       order by i.created_at desc, i.seq desc limit $2)
     select id, run_id, seq, kind, step, call_index, attempt, author, created_at, left(words, ${maxText}) as text,
       coalesce(length(words) > ${maxText}, false) as cut, facts
     from (select i.*, case kind when 'call' then b.arguments when 'message' then ${wordsOf("b.content")}
         when 'result' then b.content #>> '{}' when 'summary' then b.content #>> '{}'
         when 'plan' then (select string_agg(one ->> 'text', E'\\n') from jsonb_array_elements(b.steps) as one)
         when 'state' then coalesce(b.text, b.error ->> 'message', b.reason #>> '{}')
         else b.text end as words,
       jsonb_strip_nulls(jsonb_build_object('role', b.role, 'name', b.name, 'target', b.target, 'isError', b."isError",
         'outcome', b.outcome, 'exitCode', b.data -> 'exitCode', 'reason', b.reason, 'limit', b."limit", 'tool', b.tool, 'decision', b.decision, 'question', b.question,
         'type', b.type, 'status', b.status, 'code', coalesce(b.code, b.error -> 'code'), 'strategy', b.strategy,
         'model', b.model, 'finish', b.finish, 'usage', b.usage, 'partial', b.partial, 'erased', b.erased)) as facts
       from newest join items i using (thread_id, seq), jsonb_to_record(i.body) as b ("limit" text, content jsonb, arguments text, steps jsonb,
         text text, error jsonb, role jsonb, name jsonb, target jsonb, "isError" jsonb, outcome jsonb, reason jsonb, tool jsonb,
         decision jsonb, question jsonb, type jsonb, status jsonb, code jsonb, strategy jsonb, model jsonb, finish jsonb,
         usage jsonb, data jsonb, partial jsonb, erased jsonb)) as shown
     order by created_at, seq`,
    [runIds, most],
  );
  return rows.map((row) => ({
    id: row.id,
    runId: row.run_id,
    seq: row.seq,
    kind: row.kind,
    step: row.step,
    index: row.call_index,
    attempt: row.attempt,
    author: row.author,
    createdAt: row.created_at.toISOString(),
    text: row.text,
    cut: row.cut,
    facts: row.facts,
  }));
}

async function readModelCalls(query: Query, runIds: readonly string[], most: number): Promise<TracedModelCall[]> {
  const rows = await query<Omit<TracedModelCall, "startedAt"> & { startedAt: Date }>(
    `select id, run_id as "runId", step, attempt, asked, model, provider, started_at as "startedAt", first_part_ms as "firstPartMs",
       total_ms as "totalMs", input_tokens as "inputTokens", output_tokens as "outputTokens", cost, finish, left(error, 2000) as error
     from model_calls where run_id = any ($1::uuid[]) order by started_at desc, id desc limit $2`,
    [runIds, most],
  );
  return rows.reverse().map((row) => ({ ...row, startedAt: row.startedAt.toISOString() }));
}

async function readLedger(query: Query, runIds: readonly string[], most: number): Promise<LedgerRow[]> {
  type Row = Omit<LedgerRow, "until" | "createdAt" | "endedAt"> & {
    until: Date | null;
    createdAt: Date;
    endedAt: Date | null;
  };
  const rows = await query<Row>(
    `select run_id as "runId", step, call_index as index, tool, status, key, until, created_at as "createdAt", ended_at as "endedAt"
     from ledger where run_id = any ($1::uuid[]) order by created_at desc, step desc, call_index desc limit $2`,
    [runIds, most],
  );
  return rows.reverse().map(({ until, createdAt, endedAt, ...row }) => ({
    ...row,
    until: until?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
  }));
}

/** One item of a run, whole. Throws NotFound. */
export async function readItemOfRun(
  query: Query,
  { runId, itemId, userId }: { readonly runId: string; readonly itemId: string; readonly userId?: string },
): Promise<Item> {
  const rows =
    isId(runId) && isId(itemId)
      ? await query<ItemRow>(
          `select ${itemColumns.replaceAll(/(\w+)/g, "i.$1")} from items i join runs r on r.id = i.run_id
           where i.id = $1 and i.run_id = $2 and ($3::uuid is null or r.user_id = $3)`,
          [itemId, runId, userId ?? null],
        )
      : [];
  if (!rows[0]) throw new NotFound(`The run ${runId} has no item ${itemId}.`, { code: "item_not_found" });
  return toItem(rows[0]);
}
