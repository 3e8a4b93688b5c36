/**
 * Calls of the task tools that came with a key of their own (over MCP): the same key again is answered with what was answered
 * first, and changes nothing.
 */
export const taskCalls = {
  name: "0003-task-calls",
  up: `
create table task_calls (
  user_id uuid not null references users on delete cascade,
  key text not null,
  arguments_hash text not null,
  result jsonb,
  created_at timestamptz not null default now(),
  primary key (user_id, key)
);
create index task_calls_by_age on task_calls (created_at);
`,
} as const;
