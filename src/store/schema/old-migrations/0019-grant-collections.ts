/**
 * Groups grant collections and rooms too. `everyone` grants all of them at first; where an admin has set what it grants, the
 * collections that were open to all so far are added, and no rooms: those that were granted are so as agents.
 */
export const grantCollections = {
  name: "0019-grant-collections",
  up: `
create or replace function permissions_of(whose uuid, standing text) returns jsonb language sql stable as $$
  select case when standing = 'admin' then '["*"]'::jsonb else (
    select coalesce(jsonb_agg(distinct one.name), '[]'::jsonb) from (
      select jsonb_array_elements_text(coalesce((select permissions from groups where name = 'everyone'),
        '["agent:*", "collection:*", "model:*", "room:*", "tool:*"]'::jsonb)) as name
      union all
      select jsonb_array_elements_text(g.permissions)
      from group_members m join groups g on g.name = m.group_name where m.user_id = whose) one) end
$$;

update groups set permissions = permissions || '["collection:*"]' where name = 'everyone' and not permissions ? '*';
update runs set caller = jsonb_set(caller, '{permissions}', '["collection:*"]' || (caller -> 'permissions'))
where status in ('queued', 'running', 'waiting') and not caller -> 'permissions' ? '*' and not caller ? 'scoped';
update pending set start = jsonb_set(start, '{caller,permissions}', '["collection:*"]' || (start #> '{caller,permissions}'))
where not start #> '{caller,permissions}' ? '*' and not start -> 'caller' ? 'scoped';
`,
} as const;
