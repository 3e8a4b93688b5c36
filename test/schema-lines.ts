import type { Query } from "../src/protocol/agents/tools.ts";

/**
 * What the catalog tells of the schema `public`: for each kind of thing a query whose rows are a name and all that it is. Columns
 * carry their place, since `select *` and a copy without names go by it. Functions and comments of extensions are theirs.
 */
const kinds: Readonly<Record<string, string>> = {
  relation: `select relname as name, concat_ws(' ', relkind, relpersistence, am.amname, array_to_string(reloptions, ','),
      'replica', relreplident, case when relrowsecurity then 'row security' end, relacl::text, pg_get_userbyid(relowner)) as is
    from pg_class c left join pg_am am on am.oid = c.relam where relnamespace = 'public'::regnamespace`,
  column: `select relname || '.' || attname as name, concat_ws(' ', 'place', attnum, format_type(atttypid, atttypmod),
      case when attnotnull then 'not null' end, case when attidentity <> '' then 'identity ' || attidentity::text end,
      case when attgenerated <> '' then 'generated ' || attgenerated::text end,
      'default ' || pg_get_expr(d.adbin, d.adrelid), 'storage', attstorage, nullif(attcompression::text, ''), 'collation ' || l.collname, attoptions::text) as is
    from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = attnum
      left join pg_collation l on l.oid = attcollation
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'm', 'p', 'c', 'f') and attnum > 0`,
  constraint: `select coalesce(nullif(conrelid, 0)::regclass::text, '') || '.' || conname as name,
      concat_ws(' ', pg_get_constraintdef(oid), case when not convalidated then 'not valid' end) as is
    from pg_constraint where connamespace = 'public'::regnamespace`,
  index: `select indexrelid::regclass::text as name, concat_ws(' ', pg_get_indexdef(indexrelid), case when not indisvalid then 'invalid' end,
      case when indisclustered then 'clustered' end) as is
    from pg_index i join pg_class c on c.oid = i.indexrelid where relnamespace = 'public'::regnamespace`,
  function: `select oid::regprocedure::text as name, concat_ws(' ', pg_get_functiondef(oid), proacl::text) as is
    from pg_proc where pronamespace = 'public'::regnamespace and prokind in ('f', 'p')
      and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')`,
  trigger: `select tgrelid::regclass || '.' || tgname as name, concat_ws(' ', tgenabled, pg_get_triggerdef(t.oid)) as is
    from pg_trigger t join pg_class c on c.oid = tgrelid where not tgisinternal and relnamespace = 'public'::regnamespace`,
  view: `select c.relname as name, pg_get_viewdef(c.oid) as is
    from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('v', 'm')`,
  rule: `select tablename || '.' || rulename as name, definition as is from pg_rules where schemaname = 'public'`,
  policy: `select tablename || '.' || policyname as name, p::text as is from pg_policies p where schemaname = 'public'`,
  sequence: `select sequencename as name, concat_ws(' ', data_type, start_value, min_value, max_value, increment_by, cycle, cache_size,
      'last', coalesce(last_value::text, 'none'), 'of', (select refobjid::regclass || '.' || a.attname from pg_depend
        join pg_attribute a on a.attrelid = refobjid and a.attnum = refobjsubid
        where objid = quote_ident(sequencename)::regclass and deptype in ('a', 'i') and classid = 'pg_class'::regclass)) as is
    from pg_sequences where schemaname = 'public'`,
  type: `select oid::regtype::text as name, concat_ws(' ', typtype, format_type(typbasetype, typtypmod), typdefault,
      (select string_agg(enumlabel, ',' order by enumsortorder) from pg_enum where enumtypid = t.oid)) as is
    from pg_type t where typnamespace = 'public'::regnamespace and typtype not in ('b', 'c')`,
  statistics: `select stxname as name, pg_get_statisticsobjdef(oid) as is from pg_statistic_ext where stxnamespace = 'public'::regnamespace`,
  comment: `select o.type || ' ' || o.identity as name, description as is
    from pg_description d, pg_identify_object(d.classoid, d.objoid, d.objsubid) o where o.schema = 'public'
      and not exists (select from pg_depend e where e.classid = d.classoid and e.objid = d.objoid and e.deptype = 'e')`,
  extension: `select extname as name, extversion as is from pg_extension`,
};

/** The schema as lines that can be compared and read. */
export async function schemaLines(query: Query): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const [kind, text] of Object.entries(kinds)) {
    const rows = await query<{ name: string; is: string }>(text);
    lines.push(...rows.map(({ name, is }) => `${kind} ${name}: ${is}`));
  }
  return lines.sort();
}

/** What only one of two schemas has, a line each; empty if they are the same. */
export function differences(
  one: { readonly name: string; readonly lines: readonly string[] },
  other: { readonly name: string; readonly lines: readonly string[] },
): readonly string[] {
  const only = (mine: readonly string[], theirs: ReadonlySet<string>) => mine.filter((line) => !theirs.has(line));
  return [
    ...only(one.lines, new Set(other.lines)).map((line) => `${line} (only ${one.name})`),
    ...only(other.lines, new Set(one.lines)).map((line) => `${line} (only ${other.name})`),
  ].sort();
}
