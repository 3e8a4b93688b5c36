/**
 * A key may what it names. Keys of before keep what they had until they are cut or 90 days are over; a key has an end or names
 * what it may. Threads tell with which key they were begun, schedules what the key may that made them.
 */
export const keyScopes = {
  name: "0029-key-scopes",
  up: `
alter table api_keys add column unscoped_until timestamptz default now() + interval '90 days',
  add constraint api_keys_name_scopes check (scopes is not null or unscoped_until is not null);
alter table threads add column key_id uuid;
alter table schedules add column scopes jsonb;
`,
} as const;
