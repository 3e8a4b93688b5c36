import type { ColumnType, Generated } from "kysely";
import type { RagTables } from "./tables-rag.ts";

type Time = ColumnType<Date, Date | string | undefined, Date | string>;
type NullableTime = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
/** Read as a value, written as JSON text. */
type Json<Value> = ColumnType<Value, string, string>;

/** The tables as Kysely sees them; `migrations/` makes them. */
export type Tables = RagTables & {
  meta: { key: string; value: string };
  users: {
    id: string;
    name: string;
    role: "admin" | "user";
    disabled: Generated<boolean>;
    created_at: Time;
    /** The one of local mode and of commands on this machine. */
    is_owner: Generated<boolean>;
    password_hash: string | null;
    password_set_at: NullableTime;
  };
  api_keys: {
    id: string;
    user_id: string;
    label: string;
    /** SHA-256 of the key, hex; the key itself is shown once and never stored. */
    hash: string;
    created_at: Time;
    last_used_at: NullableTime;
    revoked_at: NullableTime;
    /** Permissions; null: all that the account has. */
    scopes: Json<readonly string[]> | null;
    expires_at: NullableTime;
  };
  signing_keys: { id: string; sealed: string; created_at: Time };
  web_sessions: {
    id: string;
    user_id: string;
    label: string;
    created_at: Time;
    last_used_at: Time;
    expires_at: Time;
  };
  identities: { issuer: string; subject: string; user_id: string; created_at: Time };
  groups: { name: string; permissions: Json<readonly string[]>; created_at: Time };
  /** `issuer`: who says so at each login; null: an admin of ours. */
  group_members: { group_name: string; user_id: string; issuer: string | null };
  account_links: {
    id: string;
    purpose: "setup" | "invite" | "reset";
    user_id: string | null;
    role: Generated<"admin" | "user">;
    groups: Json<readonly string[]>;
    created_at: Time;
    expires_at: ColumnType<Date, Date | string, Date | string>;
    used_at: NullableTime;
  };
  login_failures: { key: string; failures: number; last_at: Time };
  threads: {
    id: string;
    user_id: string;
    title: Generated<string>;
    agent: string | null;
    hidden: Generated<boolean>;
    parent_run: string | null;
    session_key: string | null;
    next_seq: Generated<number>;
    leaf: string | null;
    /** The leaf before the last append: lets one statement return the parent of what it adds. */
    previous_leaf: string | null;
    /** Messages that wait for the live run to end. */
    pending: Generated<number>;
    /** Somebody has put files into its workspace. */
    files_brought: Generated<boolean>;
    archived_at: NullableTime;
    created_at: Time;
    updated_at: Time;
    expires_at: NullableTime;
  };
  audit_log: {
    id: string;
    at: Time;
    user_id: string | null;
    user_name: string;
    via: string;
    address: string;
    method: string;
    path: string;
    status: number;
    request_id: string;
  };
  definitions: {
    kind: "agent" | "model" | "mcp-server" | "default";
    id: string;
    revision: string;
    body: Json<unknown> | null;
    /** In place of `body`, for kinds that hold secrets. */
    sealed: string | null;
    created_by: string | null;
    changed_by: string | null;
    created_at: Time;
    updated_at: Time;
  };
  uploads: {
    id: string;
    user_id: string;
    name: string;
    bytes: number;
    state: "receiving" | "reading" | "ready";
    file: string;
    sha256: string | null;
    kind: string | null;
    media_type: string | null;
    metadata: Json<unknown>;
    problem: string | null;
    created_at: Time;
  };
  shares: {
    id: string;
    thread_id: string;
    user_id: string;
    token_hash: string;
    leaf: string;
    created_at: Time;
    expires_at: NullableTime;
  };
  items: {
    thread_id: string;
    seq: number;
    id: string;
    user_id: string;
    parent_id: string | null;
    run_id: string | null;
    kind: string;
    step: string | null;
    call_index: number | null;
    attempt: number | null;
    author: string | null;
    body: Json<unknown>;
    created_at: Time;
  };
  /** Whose files may still be there. */
  removed_threads: { thread_id: string; user_id: string; remove_at: Time };
  feedback: { item_id: string; user_id: string; kind: "positive" | "negative"; created_at: Time };
  runs: {
    id: string;
    thread_id: string;
    user_id: string;
    agent: string;
    parent_run: string | null;
    root_run: string;
    status: string;
    wait_reason: string | null;
    wait_until: NullableTime;
    epoch: Generated<number>;
    job_id: string | null;
    node: string | null;
    takeovers: Generated<number>;
    handed_over: Generated<boolean>;
    cancel_asked: Generated<boolean>;
    takes: Generated<Json<unknown>>;
    /** Messages taken in while it ran. */
    steered: Generated<number>;
    definition: Json<unknown>;
    definition_hash: string;
    caller: Json<unknown>;
    error: Json<unknown> | null;
    created_at: Time;
    started_at: NullableTime;
    ended_at: NullableTime;
  };
  run_secrets: { run_id: string; name: string; user_id: string; sealed: string };
  mcp_credentials: {
    user_id: string;
    server: string;
    /** Sealed: what the user is signed in with. */
    login: string | null;
    /** Sealed: a sign-in that has begun. */
    sign_in: string | null;
    /** Until then somebody exchanges the tokens for new ones. */
    renewed_by: NullableTime;
  };
  budgets: {
    root_run: string;
    user_id: string;
    steps: number;
    steps_max: number;
    calls: number;
    calls_max: number;
    writes: number;
    writes_max: number;
    tokens: number;
    tokens_max: number | null;
    cost: Generated<number>;
    cost_max: number | null;
    left_ms: number;
    deadline: NullableTime;
    /** By run: the step whose calls were reserved last. */
    reserved: Generated<Json<Readonly<Record<string, string>>>>;
  };
  ledger: {
    run_id: string;
    step: string;
    call_index: number;
    user_id: string;
    tool: string;
    status: "executing" | "done" | "failed" | "unknown";
    key: string;
    arguments_hash: string;
    until: NullableTime;
    result: Json<unknown> | null;
    created_at: Time;
    ended_at: NullableTime;
  };
  idempotency_keys: {
    user_id: string;
    key: string;
    body_hash: string;
    run_id: string;
    thread_id: string;
    created_at: Time;
  };
  pending: {
    run_id: string;
    message_id: string;
    thread_id: string;
    user_id: string;
    position: Generated<number>;
    start: Json<unknown>;
    created_at: Time;
  };
  grants: { id: string; user_id: string; tool: string; pattern: Json<unknown>; created_at: Time };
  deliveries: {
    id: string;
    user_id: string;
    hook: string;
    body: Json<unknown>;
    tries: Generated<number>;
    next_try: Time;
    failed_at: NullableTime;
    error: string | null;
    created_at: Time;
  };
  schedules: {
    id: string;
    user_id: string;
    thread_id: string;
    agent: string;
    prompt: string;
    cron: string;
    time_zone: string;
    missed: "skip" | "once";
    enabled: Generated<boolean>;
    last_run: string | null;
    last_error: string | null;
    created_at: Time;
  };
  spending_budgets: {
    id: string;
    kind: "user" | "group" | "default";
    user_id: string | null;
    group_name: string | null;
    period: "day" | "month";
    tokens_max: number | null;
    cost_max: number | null;
    requests_max: number | null;
    warn_at: number;
    on_limit: "wait" | "refuse" | "warn";
    created_at: Time;
    updated_at: Time;
  };
  /** `who`: `user <id>` or `group <name>`. */
  spending: {
    who: string;
    period: "day" | "month";
    starts_at: Time;
    user_id: string | null;
    group_name: string | null;
    tokens: Generated<number>;
    cost: Generated<number>;
    requests: Generated<number>;
    /** Requests to models without a price. */
    unpriced: Generated<number>;
    warned_at: NullableTime;
  };
  /** Reserved for requests at work: counts while the run is at work at this epoch, or until then. */
  spending_holds: {
    id: string;
    who: string;
    period: "day" | "month";
    starts_at: Time;
    user_id: string;
    run_id: string | null;
    epoch: number | null;
    until: NullableTime;
    tokens: number;
    cost: number;
    created_at: Time;
  };
  /** `days` counts if it is set; null then: for ever. */
  retention: {
    kind: string;
    is_set: Generated<boolean>;
    days: number | null;
    last_at: NullableTime;
    last_removed: number | null;
    last_error: string | null;
    leased_until: NullableTime;
  };
  erasures: {
    id: string;
    user_id: string;
    asked_by: string | null;
    begun_at: Time;
    step: Generated<string>;
    /** Threads of others whose files of the session are to be written anew. */
    touched: Json<readonly string[]>;
    problem: string | null;
    leased_until: NullableTime;
    done_at: NullableTime;
  };
  deltas: {
    run_id: string;
    step: string;
    attempt: number;
    kind: "text" | "reasoning";
    off: number;
    body: string;
    thread_id: string;
  };
  model_calls: {
    id: string;
    user_id: string | null;
    run_id: string | null;
    step: string | null;
    attempt: number | null;
    asked: string;
    model: string;
    provider: string;
    started_at: Time;
    first_part_ms: number | null;
    total_ms: number;
    input_tokens: number | null;
    output_tokens: number | null;
    cost: number | null;
    finish: string | null;
    error: string | null;
  };
  tasks: {
    id: Generated<number>;
    user_id: string;
    title: string;
    description: Generated<string>;
    status: Generated<"pending" | "completed">;
    created_at: Time;
    updated_at: Time;
  };
  task_calls: {
    user_id: string;
    key: string;
    arguments_hash: string;
    result: Json<unknown> | null;
    created_at: Time;
  };
  rooms: { thread_id: string; user_id: string; kind: string | null; spec: Json<unknown> | null; created_at: Time };
  room_people: { thread_id: string; user_id: string; handle: string; joined_at: Time };
  room_callers: { message_id: string; thread_id: string; user_id: string; caller: Json<unknown> };
  room_presence: { connection: string; thread_id: string; user_id: string; seen_at: Time };
};
