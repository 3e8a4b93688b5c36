/**
 * Calls whose statements are not checked, by file and function, each with the reason. Of a text that only a run makes, prefer a sample
 * (`samples.ts`).
 */
export const unchecked: Readonly<Record<string, string>> = {
  "src/run/engine/engine.ts executeSql": "what pg-boss says",
  "src/tools/core/call-tool.ts statement": "hands on what a tool says, which is checked there",
  "src/store/driver/transaction.ts query": "hands on what others say",
  "src/store/driver/transaction.ts runTransaction": "`begin`, with what its caller puts behind it; gives no rows",
  "src/store/driver/open.ts keepUp": "`vacuum` gives no rows",
  "src/store/schema/migrate.ts begin": "the baseline gives no rows",
  "src/store/schema/migrate.ts apply": "a migration gives no rows",
  "src/store/knowledge/lexical.ts createBm25Index": "`create index` gives no rows",
  "src/store/knowledge/indexes.ts createVectorIndex": "`create index` gives no rows",
  "src/store/privacy/erasures.ts beginErasure": "deletes from tables of a list; its rows are not read",
  "src/store/moving/export.ts countersOf": "columns that every sequence has",
  "src/store/moving/import.ts beginOrGoOn": "looks whether there is a row",
  "src/store/moving/import.ts importTable": "inserts; its rows are not read",
};

/** Columns that may be null as the tables are declared, and here never are. */
export const neverNull: Readonly<Record<string, string>> = {
  "src/run/background/sweep.ts requeueOrphans job_id": "where job_id is not null",
  "src/run/background/sweep.ts expireWaits wait_reason": "set by whoever sets the status to `waiting`",
  "src/run/lifecycle/reopen.ts childrenToReopen parentCall": "where parent_call not like …",
  "src/run/threads/threads.ts findSessions key": "where starts_with(session_key, …)",
  "src/run/turn/what-leaves.ts readBefore name": "every call has a name",
  "src/run/turn/what-leaves.ts readBefore given": "every call has its arguments, as text",
  "src/run/verbs/decide.ts runThatAsks run_id": "a run asks every question",
  "src/run/views/run-trace.ts readModelCalls runId": "where run_id = any (…)",
  "src/store/deliveries.ts takeDeliveries event": "every signal has a type",
  "src/store/knowledge/uploads.ts listAttached path": "every attached file has a path",
  "src/store/secrets/mcp-credentials.ts takeForRenewal login": "where login is not null",
  "src/store/tasks/task-calls.ts claimTaskCall result": "kept in the transaction that makes the row",
};
