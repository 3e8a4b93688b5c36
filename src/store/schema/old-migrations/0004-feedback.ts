/** What a person thinks of an item; it goes with the item, which itself is never changed. */
export const feedback = {
  name: "0004-feedback",
  up: `
create table feedback (
  item_id uuid primary key references items (id) on delete cascade,
  user_id uuid not null references users on delete cascade,
  kind text not null check (kind in ('positive', 'negative')),
  created_at timestamptz not null default now()
);
`,
} as const;
