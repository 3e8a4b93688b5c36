/** When a run that waits for a provider asks again by itself; null: only when somebody says so. */
export const runRetries = {
  name: "0022-run-retries",
  up: `
alter table runs add column retry_at timestamptz;
`,
} as const;
