import { plainText } from "../protocol/base/json-text.ts";
import type { Query } from "../protocol/agents/tools.ts";

/** A signal to one hook, taken to be sent now. */
export type DueDelivery = {
  readonly id: string;
  readonly hook: string;
  /** JSON text, the same at every try. */
  readonly body: string;
  readonly event: string;
  /** This try's number, from 1. */
  readonly tries: number;
  readonly ageSeconds: number;
};

/**
 * Takes what is due, at most so many of each hook. Nobody else takes it for `leaseSeconds`; if nothing is heard of it by
 * then, it is due again: its node has died.
 */
export async function takeDeliveries(
  query: Query,
  { room, leaseSeconds }: { readonly room: ReadonlyMap<string, number>; readonly leaseSeconds: number },
): Promise<readonly DueDelivery[]> {
  return query<DueDelivery>(
    `with due as materialized (
       select d.id from unnest($1::text[], $2::integer[]) as lane (hook, room)
       cross join lateral (
         select id from deliveries where hook = lane.hook and failed_at is null and next_try <= now()
         order by next_try limit lane.room for update skip locked
       ) d
     )
     update deliveries set tries = tries + 1, next_try = now() + $3 * interval '1 second'
     from due where deliveries.id = due.id
     returning deliveries.id, hook, body::text as body, body ->> 'type' as event, tries,
       extract(epoch from now() - created_at)::float8 as "ageSeconds"`,
    [[...room.keys()], [...room.values()], leaseSeconds],
  );
}

export async function removeDelivery(query: Query, id: string): Promise<void> {
  await query("delete from deliveries where id = $1", [id]);
}

/** After a try that failed: due again after `retrySeconds`, or never if that is null. Whoever took it since has the say. */
export async function noteFailure(
  query: Query,
  { id, tries }: Pick<DueDelivery, "id" | "tries">,
  { error, retrySeconds }: { readonly error: string; readonly retrySeconds: number | null },
): Promise<void> {
  await query(
    `update deliveries set error = $3, next_try = now() + coalesce($4::float8, 0) * interval '1 second',
       failed_at = case when $4::float8 is null then now() end
     where id = $1 and tries = $2 and failed_at is null`,
    [id, tries, plainText(error), retrySeconds],
  );
}

/** Due for ten minutes and taken by no node: none of them knows the hook. And what has failed is kept for 30 days. */
export async function tidyDeliveries(query: Query, hooks: readonly string[]): Promise<void> {
  await query(
    `update deliveries set failed_at = now(), error = 'No webhook of this name is configured.'
     where failed_at is null and hook <> all ($1::text[]) and next_try < now() - interval '10 minutes'`,
    [hooks],
  );
  await query("delete from deliveries where failed_at < now() - interval '30 days'");
}
