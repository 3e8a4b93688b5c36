import { rolledKey } from "../metering/usage-rollups.ts";

/** Rule for how an export treats one of our tables. */
export type TableRule =
  | {
      readonly table: string;
      readonly rows: "all";
      /** Unique and never null; rows are read in its order, a page at a time. */
      readonly key: readonly string[];
      /** Rows that belong to one installation stay behind. */
      readonly only?: string;
    }
  | { readonly table: string; readonly rows: "none"; readonly why: string };
export type MovedTable = Extract<TableRule, { readonly rows: "all" }>;

/** Facts that hold only where they were written: which data directory the nodes share, and an import at work. */
export const markerKey = "data_marker";
export const importKey = "import";

/**
 * A rule for every table, in the order in which rows can be inserted: what is referred to comes first, and a call comes
 * before its result. A new table needs a line here; a test compares the list with the database. (pg-boss's own schema stays
 * behind: what a clock starts is read from the schedules.)
 */
export const tableRules: readonly TableRule[] = [
  { table: "migrations", rows: "none", why: "the target has its own, and they must be the same" },
  { table: "meta", rows: "all", key: ["key"], only: `key not in ('${markerKey}', '${importKey}', '${rolledKey}')` },
  { table: "users", rows: "all", key: ["id"] },
  { table: "api_keys", rows: "all", key: ["id"] },
  { table: "identities", rows: "all", key: ["issuer", "subject"] },
  { table: "groups", rows: "all", key: ["name"] },
  { table: "group_members", rows: "all", key: ["group_name", "user_id"] },
  { table: "threads", rows: "all", key: ["id"] },
  { table: "folders", rows: "all", key: ["id"] },
  { table: "thread_places", rows: "all", key: ["user_id", "thread_id"] },
  { table: "run_definitions", rows: "all", key: ["user_id", "hash"] },
  { table: "runs", rows: "all", key: ["id"] },
  { table: "items", rows: "all", key: ["thread_id", "seq"] },
  { table: "rooms", rows: "all", key: ["thread_id"] },
  { table: "room_people", rows: "all", key: ["thread_id", "user_id"] },
  { table: "room_callers", rows: "all", key: ["message_id"] },
  { table: "room_presence", rows: "none", why: "who has a room open at this moment" },
  { table: "audit_log", rows: "all", key: ["id"] },
  { table: "spending_budgets", rows: "all", key: ["id"] },
  { table: "spending", rows: "all", key: ["who", "period", "starts_at"] },
  { table: "spending_holds", rows: "none", why: "of requests at work" },
  { table: "retention", rows: "all", key: ["kind"] },
  { table: "erasures", rows: "all", key: ["id"] },
  { table: "definitions", rows: "all", key: ["kind", "id"] },
  { table: "uploads", rows: "all", key: ["id"] },
  { table: "rag_collections", rows: "all", key: ["id"] },
  { table: "rag_documents", rows: "all", key: ["id"] },
  { table: "rag_chunks", rows: "all", key: ["id"] },
  { table: "rag_vectors", rows: "all", key: ["chunk_id"] },
  { table: "rag_traces", rows: "all", key: ["id"] },
  { table: "shares", rows: "all", key: ["id"] },
  { table: "feedback", rows: "all", key: ["item_id"] },
  { table: "run_secrets", rows: "all", key: ["run_id", "name"] },
  { table: "mcp_credentials", rows: "all", key: ["user_id", "server"] },
  { table: "budgets", rows: "all", key: ["root_run"] },
  { table: "ledger", rows: "all", key: ["key"] },
  { table: "idempotency_keys", rows: "all", key: ["user_id", "key"] },
  { table: "pending", rows: "all", key: ["run_id"] },
  { table: "grants", rows: "all", key: ["id"] },
  { table: "deliveries", rows: "all", key: ["id"] },
  { table: "schedules", rows: "all", key: ["id"] },
  { table: "removed_threads", rows: "all", key: ["thread_id"] },
  { table: "model_calls", rows: "all", key: ["id"] },
  { table: "usage_rollups", rows: "none", why: "counted anew from the log of calls" },
  { table: "tasks", rows: "all", key: ["id"] },
  { table: "task_calls", rows: "all", key: ["user_id", "key"] },
  { table: "web_sessions", rows: "none", why: "logins belong to an installation: people log in again" },
  { table: "signing_keys", rows: "none", why: "they sign those logins" },
  { table: "account_links", rows: "none", why: "links lead to the installation that gave them out" },
  { table: "login_failures", rows: "none", why: "of the last minutes" },
  { table: "rag_indexes", rows: "none", why: "they are made anew, of the kinds that the target has" },
  { table: "nodes", rows: "none", why: "processes that work on this database" },
  { table: "rag_terms", rows: "none", why: "made anew where they are needed" },
  {
    table: "deltas",
    rows: "none",
    why: "text that is still being written; a run that is taken up again tells it anew",
  },
];

export const movedTables: readonly MovedTable[] = tableRules.filter((rule) => rule.rows === "all");
