/** Which process took a run, and when: the first take and the newest ones. */
export const runTakes = {
  name: "0021-run-takes",
  up: `
alter table runs add column takes jsonb not null default '[]';
`,
} as const;
