/**
 * Finds what of a thread others wrote, however long the thread is: `run/turn/untrusted.ts` asks in these very words. And whether
 * somebody has put files into its workspace.
 */
export const untrustedItems = {
  name: "0017-untrusted-items",
  up: `
create index items_untrusted on items (thread_id)
  where body ->> 'untrusted' = 'true' or (kind = 'message' and body -> 'files' is not null);
alter table threads add column files_brought boolean not null default false;
`,
} as const;
