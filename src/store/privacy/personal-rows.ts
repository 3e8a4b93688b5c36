import type { Query } from "../../protocol/agents/tools.ts";

type Rows = {
  /** Name of its file in an export. */
  readonly name: string;
  /** Selects rows of the person with ID `$1` after the key `$2`; at most `$3` rows. */
  readonly sql: string;
  /** A key that sorts before all others. */
  readonly first: string;
};

const zero = "00000000-0000-0000-0000-000000000000";
const byId = (name: string, columns: string, from: string, key = "id"): Rows => ({
  name,
  sql: `select ${key} as key, ${columns} from ${from} and ${key} > $2::uuid order by ${key} limit $3`,
  first: zero,
});
const byText = (name: string, columns: string, from: string, key: string): Rows => ({
  name,
  sql: `select ${key} as key, ${columns} from ${from} and ${key} > $2::text order by ${key} limit $3`,
  first: "",
});

/**
 * Selects, by name, everything that the tables hold about a person; no hashes, tokens or sealed secrets. Items of conversations are
 * exported elsewhere, in the API's form.
 */
export const personalRows: readonly Rows[] = [
  byText("identities", "issuer, subject, created_at", "identities where user_id = $1", "issuer || ' ' || subject"),
  byText("groups", "group_name, issuer", "group_members where user_id = $1", "group_name"),
  byId("keys", "id, label, scopes, created_at, last_used_at, expires_at, revoked_at", "api_keys where user_id = $1"),
  byId("logins", "id, label, created_at, last_used_at, expires_at", "web_sessions where user_id = $1"),
  byId("room-messages", "message_id, thread_id, caller", "room_callers where user_id = $1", "message_id"),
  byId("rooms", "thread_id, handle, joined_at", "room_people where user_id = $1", "thread_id"),
  byText("mcp-sign-ins", "server, login is not null as signed_in", "mcp_credentials where user_id = $1", "server"),
  byId("preferences", "preferences, read_since", "users where id = $1"),
  byId("folders", "id, name, position, settings, created_at", "folders where user_id = $1"),
  byId(
    "thread-places",
    "thread_id, folder_id, pinned_at, archived_at, read_seq",
    "thread_places where user_id = $1",
    "thread_id",
  ),
  byId("grants", "id, tool, pattern, created_at", "grants where user_id = $1"),
  byId(
    "schedules",
    "id, thread_id, agent, prompt, cron, time_zone, missed, enabled, last_run, last_error, created_at",
    "schedules where user_id = $1",
  ),
  byId("shares", "id, thread_id, leaf, created_at, expires_at", "shares where user_id = $1"),
  byId("feedback", "item_id, kind, created_at", "feedback where user_id = $1", "item_id"),
  {
    name: "tasks",
    sql: `select id as key, id, title, description, status, list, created_at, updated_at from tasks
          where user_id = $1 and id > $2::integer order by id limit $3`,
    first: "-1",
  },
  byId(
    "threads",
    "id, title, agent, session_key, hidden, temporary, metadata, settings, parent_run, archived_at, created_at, updated_at, expires_at",
    "threads where user_id = $1",
  ),
  byId(
    "runs",
    "id, thread_id, agent, parent_run, root_run, status, wait_reason, error, created_at, started_at, ended_at",
    "runs where user_id = $1",
  ),
  byText("run-definitions", "body, used_at", "run_definitions where user_id = $1", "hash"),
  byId(
    "limits",
    "root_run, steps, steps_max, calls, calls_max, writes, writes_max, tokens, tokens_max, cost, cost_max",
    "budgets where user_id = $1",
    "root_run",
  ),
  byId(
    "writes",
    "run_id, step, call_index, tool, status, created_at, ended_at",
    "ledger where user_id = $1",
    "ledger.key",
  ),
  byId(
    "waiting-messages",
    "run_id, thread_id, start -> 'items' as items, created_at",
    "pending where user_id = $1",
    "run_id",
  ),
  byId(
    "uploads",
    "id, name, bytes, state, sha256, kind, media_type, metadata, problem, created_at",
    "uploads where user_id = $1",
  ),
  byId(
    "collections",
    "id, name, description, settings, embedding_model, shared_with, created_at, updated_at",
    "rag_collections where user_id = $1",
  ),
  byId(
    "documents",
    "id, collection_id, name, source, status, bytes, sha256, media_type, metadata, created_at, updated_at",
    "rag_documents where user_id = $1",
  ),
  // Without the passages that were found: they are others' too.
  byId("questions", "id, run_id, collection_ids, question, created_at", "rag_traces where user_id = $1"),
  // Without where they go: that is the operator's.
  byId("signals", "id, body, tries, next_try, failed_at, created_at", "deliveries where user_id = $1"),
  byId(
    "model-calls",
    "id, run_id, step, attempt, asked, model, provider, started_at, first_part_ms, total_ms, input_tokens, output_tokens, cost, finish, error",
    "model_calls where user_id = $1",
  ),
  byText(
    "spending",
    "period, starts_at, tokens, cost, requests, unpriced",
    "spending where user_id = $1",
    "period || ' ' || (starts_at at time zone 'UTC')::text",
  ),
  byId(
    "budgets",
    "id, period, tokens_max, cost_max, requests_max, warn_at, on_limit, updated_at",
    "spending_budgets where user_id = $1",
  ),
  byId("audit", "id, at, via, address, method, path, status", "audit_log where user_id = $1"),
];

const pageRows = 200;

/** A page at a time; `key` is where to go on. */
export async function* pagesOfPerson(query: Query, userId: string, { sql, first }: Rows) {
  for (let after = first; ;) {
    const rows = await query<{ key: string | number } & Record<string, unknown>>(sql, [userId, after, pageRows]);
    if (rows.length > 0) yield rows.map(({ key: _key, ...row }) => row);
    if (rows.length < pageRows) return;
    after = String(rows.at(-1)!.key);
  }
}

export type PersonalAccount = {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly disabled: boolean;
  readonly hasPassword: boolean;
  readonly passwordSetAt: Date | null;
  readonly createdAt: Date;
};

export async function personalAccount(query: Query, userId: string): Promise<PersonalAccount | undefined> {
  const [account] = await query<PersonalAccount>(
    `select id, name, role, disabled, password_hash is not null as "hasPassword", password_set_at as "passwordSetAt",
       created_at as "createdAt" from users where id = $1`,
    [userId],
  );
  return account;
}

/** Files that lie in folders of ours: uploads, and originals of documents. */
export async function* filesOfPerson(
  query: Query,
  userId: string,
): AsyncGenerator<{
  readonly kind: "uploads" | "documents";
  readonly id: string;
  readonly name: string;
  readonly file: string;
}> {
  const kinds = [
    ["uploads", "select id, name, file from uploads where user_id = $1 and state <> 'receiving'"],
    [
      "documents",
      "select id, name, coalesce(live_file, file) as file from rag_documents where user_id = $1 and coalesce(live_file, file) is not null",
    ],
  ] as const;
  for (const [kind, sql] of kinds) {
    for (let after = zero; ;) {
      const rows = await query<{ id: string; name: string; file: string }>(
        `${sql} and id > $2::uuid order by id limit $3`,
        [userId, after, pageRows],
      );
      for (const row of rows) yield { kind, ...row };
      if (rows.length < pageRows) break;
      after = rows.at(-1)!.id;
    }
  }
}
