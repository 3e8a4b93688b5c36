import type { ModelCallRecord } from "../../protocol/agents/models.ts";
import type { Query } from "../../protocol/agents/tools.ts";

/** A call with its cost, if the price is known. */
export type PricedCall = ModelCallRecord & { readonly cost?: number };

/** The step of a request that named a conversation, outside of any run. */
export const titleStep = "title";

/** Writes any number of rows of the call log in one statement; a row that is there already is left as it is. */
export async function insertModelCalls(query: Query, records: readonly PricedCall[]): Promise<void> {
  if (records.length === 0) return;
  await query(
    `insert into model_calls (id, user_id, run_id, step, attempt, asked, model, provider, started_at, first_part_ms,
                              total_ms, input_tokens, output_tokens, cost, finish, error)
     select * from jsonb_to_recordset($1::jsonb) as row (
       "id" uuid, "userId" uuid, "runId" uuid, "step" text, "attempt" integer, "asked" text, "model" text,
       "provider" text, "startedAt" timestamptz, "firstPartMs" double precision, "totalMs" double precision,
       "inputTokens" bigint, "outputTokens" bigint, "cost" double precision, "finish" text, "error" text)
     on conflict (id) do nothing`,
    [JSON.stringify(records)],
  );
}
