import type { Query } from "../../../protocol/agents/tools.ts";
import { looksOf } from "../name-looks.ts";

/**
 * What a name looks like, once among all accounts. Those that looked alike before stay: the oldest of them counts, and the
 * others, which are `alike`, keep their names from being taken too.
 */
export const nameLooks = {
  name: "0028-name-looks",
  async up(query: Query): Promise<void> {
    await query("alter table users add column looks text, add column alike boolean not null default false");
    const users = await query<{ id: string; name: string }>("select id, name from users");
    await query(
      `update users set looks = now.looks from unnest($1::uuid[], $2::text[]) as now (id, looks) where users.id = now.id`,
      [users.map(({ id }) => id), users.map(({ name }) => looksOf(name))],
    );
    await query(
      `update users set alike = true from (
         select id, row_number() over (partition by looks order by created_at, id) as place from users) as placed
       where users.id = placed.id and placed.place > 1`,
    );
    await query("create unique index users_by_looks on users (looks) where not alike");
  },
} as const;
