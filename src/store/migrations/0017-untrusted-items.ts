/** Finds what of a thread others wrote, however long the thread is; `run/untrusted.ts` asks in these very words. */
export const untrustedItems = {
  name: "0017-untrusted-items",
  up: `
create index items_untrusted on items (thread_id)
  where body ->> 'untrusted' = 'true' or (kind = 'message' and body -> 'files' is not null);
`,
} as const;
