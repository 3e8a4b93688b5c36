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

/** SQL condition on a row of `budgets`: a step may be made, and only their number bounds the run and no budget its account. */
const mayMakeStep = `steps + 1 <= steps_max and tokens_max is null and cost_max is null and (deadline is null or now() < deadline)
  and not exists (select from spending_budgets)`;

/** A step that was reserved before what it asks was known. */
const oneStep = `'{"steps": 1, "tokens": 0, "cost": 0}'::jsonb`;

/** For an update of `budgets`: reserves a step under this name, or changes nothing. */
export function reserveNextSql(run: string, reservation: string): string {
  return `steps = case when ${mayMakeStep} then steps + 1 else steps end, unsettled = case when ${mayMakeStep}
    then unsettled || jsonb_build_object(${run}::text, coalesce(unsettled -> ${run}::text, '{}') || jsonb_build_object(${reservation}::text, ${oneStep}))
    else unsettled end`;
}

/** The calls of an answer: of which step, and how many; the values are SQL. */
type CallsSql = { readonly step: string; readonly calls: string };

/** How `reserved` names a step whose calls were counted with its answer. Those of them that write are counted later, when it is known that they are made. */
export const countedCallsSql = (step: string): string => `'calls ' || ${step}::text`;

/** For an update of `budgets`: takes the calls of a step from the limits, or changes nothing. */
export function countCallsSql(run: string, { step, calls }: CallsSql): string {
  const fits = `calls + ${calls} <= calls_max and steps <= steps_max and tokens_max is null and cost_max is null and (deadline is null or now() < deadline)`;
  return `calls = case when ${fits} then calls + ${calls} else calls end,
    reserved = case when ${fits} then reserved || jsonb_build_object(${run}::text, ${countedCallsSql(step)}) else reserved end`;
}

/** SQL condition on an updated row of `budgets`. */
export function areCallsCountedSql(run: string, { step }: CallsSql): string {
  return `coalesce(reserved ->> ${run}::text = ${countedCallsSql(step)}, false)`;
}

/** SQL of the column `unsettled` of a run that begins with a step reserved. */
export function firstReservationSql(run: string, reservation: string): string {
  return `jsonb_build_object(${run}::text, jsonb_build_object(${reservation}::text, ${oneStep}))`;
}

/** `from`: the reservations that go; `left`: those that stay. */
function giveBack(from: string, left: string, used: UsedAmountsSql): string {
  const sum = (what: keyof UsedAmountsSql) =>
    `${what} = greatest(0, ${what} + ${used[what]} - coalesce((select sum((u.value ->> '${what}')::float8) from ${from}), 0))`;
  return `${sum("steps")}, ${sum("tokens")}, ${sum("cost")}, unsettled = ${left}`;
}
