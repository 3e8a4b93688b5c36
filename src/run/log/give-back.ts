/** Amounts that replace reservations; the values are SQL. */
type UsedAmountsSql = { readonly [What in "steps" | "tokens" | "cost"]: string };

const nothing: UsedAmountsSql = { steps: "0", tokens: "0", cost: "0" };

/** For an update of `budgets`: gives back all that a run has reserved and not settled. */
export function releaseReservationsSql(run: string, used = nothing): string {
  return giveBack(`jsonb_each(unsettled -> ${run}::text) u`, `unsettled - ${run}::text`, used);
}

/** Releases the reservations of the whole tree, except those of some runs. */
export function releaseTreeReservationsSql(but: string): string {
  return giveBack(
    `jsonb_each(unsettled) s, jsonb_each(s.value) u where s.key <> all (${but})`,
    `coalesce((select jsonb_object_agg(s.key, s.value) from jsonb_each(unsettled) s where s.key = any (${but})), '{}')`,
    nothing,
  );
}

/** Settles one reservation, unless it was settled before. */
export function settleReservationSql(run: string, reservation: string, used: UsedAmountsSql): string {
  const place = `array[${run}::text, ${reservation}::text]`;
  return giveBack(`(values (unsettled #> ${place})) u (value)`, `unsettled #- ${place}`, used);
}

/** `from`: the reservations that go; `left`: those that stay. */
function giveBack(from: string, left: string, used: UsedAmountsSql): string {
  const sum = (what: keyof UsedAmountsSql) =>
    `${what} = greatest(0, ${what} + ${used[what]} - coalesce((select sum((u.value ->> '${what}')::float8) from ${from}), 0))`;
  return `${sum("steps")}, ${sum("tokens")}, ${sum("cost")}, unsettled = ${left}`;
}
