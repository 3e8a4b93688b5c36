/**
 * The step of each run whose calls were reserved last: whoever takes the run up in the middle of them, after a crash or a wait,
 * must not take them from the limits again.
 */
export const reservedOnce = {
  name: "0006-reserved-once",
  up: `
alter table budgets add column reserved jsonb not null default '{}';
`,
} as const;
