import type { Query } from "../../protocol/agents/tools.ts";

/** Facts about the installation as a whole, by name. */
export async function getMeta(query: Query, key: string): Promise<string | undefined> {
  const [row] = await query<{ value: string }>("select value from meta where key = $1", [key]);
  return row?.value;
}

export async function setMeta(query: Query, key: string, value: string): Promise<void> {
  await query("insert into meta (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value", [
    key,
    value,
  ]);
}

/** The value that is there, else the given one, which is then kept: of several nodes, all get that of the first. */
export async function ensureMeta(query: Query, key: string, value: string): Promise<string> {
  await query("insert into meta (key, value) values ($1, $2) on conflict (key) do nothing", [key, value]);
  return (await getMeta(query, key))!;
}
