/** Calls that are not checked, as `<file> <function>`, with the reason. Prefer a sample (`samples.ts`) where one is possible. */
export const unchecked: Readonly<Record<string, string>> = {
  "src/run/engine/timetable.ts executeSql": "statements of pg-boss",
  "src/tools/core/call-tool.ts statement": "passes on what a tool asks, which is checked in the tool",
  "src/store/driver/transaction.ts query": "passes on statements",
  "src/store/driver/transaction.ts runTransaction": "`begin` and what its caller adds; returns no rows",
  "src/store/driver/open.ts keepUp": "`vacuum` returns no rows",
  "src/store/schema/migrate.ts begin": "the baseline returns no rows",
  "src/store/schema/migrate.ts apply": "a migration returns no rows",
  "src/store/knowledge/lexical.ts createBm25Index": "`create index` returns no rows",
  "src/store/knowledge/indexes.ts createVectorIndex": "`create index` returns no rows",
  "src/store/privacy/erasures.ts beginErasure": "deletes from a list of tables; its rows are not read",
  "src/store/metering/usage-rollups.ts count": "deletes and inserts; its rows are not read",
  "src/store/moving/export.ts countersOf": "reads columns that every sequence has",
  "src/store/moving/import.ts beginOrGoOn": "only counts its rows",
  "src/store/moving/import.ts importTable": "inserts; its rows are not read",
};

/** Columns that the tables allow to be null and these statements never return so, as `<file> <function> <column>`. */
export const neverNull: Readonly<Record<string, string>> = {
  "src/run/background/title-rows.ts claimTitle title_asked_at": "set by the statement",
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
