/**
 * Whose text stands in a thread that no item of it tells (that of a fork), up to where a person has read what came from outside,
 * and by whose text a task was written. And where a person has allowed that somebody is told things.
 */
export const outsideText = {
  name: "0026-outside-text",
  up: `
alter table threads add column outside text[] not null default '{}', add column outside_read bigint not null default 0;
alter table tasks add column outside text[] not null default '{}';
create index items_here on items (thread_id) where kind = 'decision' and body ? 'here';
`,
} as const;
