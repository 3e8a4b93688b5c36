/**
 * Hands out jobs in one statement. The lock is taken and given back while the server works on it, so a node that vanishes holds
 * up nobody; what is counted after it is newer than all that others handed out before, so the limit of a user is exact.
 */
export const claimJobs = {
  name: "0023-claim-jobs",
  up: `
create function claim_jobs(queue text, most integer, per_user integer)
returns table (job_id uuid, attempt integer, run_id uuid) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(7206001);
  return query
  with counts as materialized (
    select coalesce(jsonb_object_agg(a.group_id, a.active), '{}') as active from (
      select j.group_id, count(*)::integer as active from pgboss.job j
      where j.name = queue and j.state = 'active' and j.group_id is not null group by j.group_id) a),
  next as (
    select j.id, j.group_id, coalesce(((select c.active from counts c) ->> j.group_id)::integer, 0) as active
    from pgboss.job j
    where j.name = queue and j.state < 'active' and not j.blocked and j.start_after <= pgboss.job_now()
      and coalesce(((select c.active from counts c) ->> j.group_id)::integer, 0) < per_user
    order by j.priority desc, j.created_on limit most
    for update of j skip locked),
  ranked as (select n.id, n.active + row_number() over (partition by n.group_id order by n.id) as place from next n)
  update pgboss.job j set state = 'active', started_on = pgboss.job_now(), heartbeat_on = pgboss.job_now(),
    retry_count = case when j.started_on is not null then j.retry_count + 1 else j.retry_count end
  where j.name = queue and j.id = any (array(select r.id from ranked r where r.place <= per_user))
  returning j.id, j.retry_count, (j.data ->> 'runId')::uuid;
end $$;
`,
} as const;
