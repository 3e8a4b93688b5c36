import { createHash } from "node:crypto";
import type { Query } from "../../protocol/agents/tools.ts";

/** Who failed, as far as it is known: each is counted by itself, with as many tries free of a wait. */
export type LoginSubject = { readonly kind: string; readonly value: string; readonly free: number };

/** After the free tries each failure doubles the wait, from `firstSeconds` up to `maxSeconds`. */
const firstSeconds = 15;
const maxSeconds = 900;
/** Failures are forgotten when none was added for as long. */
const memory = "1 hour";
/** Rows that are kept at most, whoever tries whatever. */
const maxRows = 100_000;

/** Seconds until any of them may try again; 0: now. */
export async function blockedSeconds(query: Query, suspects: readonly LoginSubject[]): Promise<number> {
  const [row] = await query<{ seconds: number | null }>(
    `select max(extract(epoch from f.last_at - now())
       + least(${maxSeconds}, ${firstSeconds} * power(2, least(f.failures - k.free, 20))))::float8 as seconds
     from unnest($1::text[], $2::integer[]) as k (key, free) join login_failures f on f.key = k.key
     where f.failures >= k.free and f.last_at > now() - interval '${memory}'`,
    [suspects.map(keyOf), suspects.map(({ free }) => free)],
  );
  return Math.max(0, Math.ceil(row?.seconds ?? 0));
}

export async function addFailure(query: Query, suspects: readonly LoginSubject[]): Promise<void> {
  // In one order, or two of them could wait for each other.
  await query(
    `insert into login_failures as f (key, failures) select key, 1 from unnest($1::text[]) as key order by key
     on conflict (key) do update set last_at = now(),
       failures = case when f.last_at < now() - interval '${memory}' then 1 else f.failures + 1 end`,
    [suspects.map(keyOf)],
  );
}

export async function forgetFailures(query: Query, suspects: readonly LoginSubject[]): Promise<void> {
  await query("delete from login_failures where key = any ($1::text[])", [suspects.map(keyOf)]);
}

export async function removeOldFailures(query: Query): Promise<void> {
  await query(
    `delete from login_failures where last_at < now() - interval '${memory}'
       or key in (select key from login_failures order by last_at desc offset ${maxRows})`,
  );
}

/** A hash: names that people mistype for their password are nobody's business. */
function keyOf({ kind, value }: LoginSubject): string {
  return createHash("sha256").update(`${kind}\0${value}`).digest("base64url");
}
