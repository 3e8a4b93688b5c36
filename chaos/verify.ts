import type { Query } from "../src/protocol/agents/tools.ts";
import { epochSql } from "../src/run/log/standing.ts";
import { checkInvariants } from "../src/store/schema/invariants.ts";
import type { Fault } from "./faults.ts";
import type { Submission } from "./load.ts";
import type { ModelServer } from "./model.ts";
import type { Effect, Outside } from "./outside.ts";
import { allCallsOf, blindTools, effectTools, scriptIn, textOf, type ToolName } from "./script.ts";

export type Evidence = {
  readonly query: Query;
  readonly submissions: readonly Submission[];
  readonly model: ModelServer;
  readonly outside: Outside;
  readonly faults: readonly Fault[];
  /** What clients saw go wrong. */
  readonly complaints: readonly string[];
};

/** No resume of its run has withdrawn the result `r`. */
const stands = `not exists (select from items w where w.kind = 'state' and w.run_id = r.run_id and w.step = r.step
  and w.call_index = r.call_index and w.seq > r.seq)`;

export type Findings = {
  readonly accepted: number;
  readonly done: number;
  readonly failed: number;
  readonly cancelled: number;
  /** That went on after they had been stopped or had failed. */
  readonly resumed: number;
  readonly unknown: Readonly<Record<string, number>>;
  /** Effects of a process that was frozen just before its request left, to a tool that ignores the key: what can't be promised. */
  readonly afterFreeze: number;
  readonly takeovers: number;
  readonly handOvers: number;
  readonly retries: number;
  /** Each of these breaks a promise; a line each. `impatient`: failed though waiting would have helped. */
  readonly lost: readonly string[];
  readonly impatient: readonly string[];
  readonly duplicated: readonly string[];
  readonly stuck: readonly string[];
  readonly gaps: readonly string[];
  readonly broken: readonly string[];
};

type RunRow = {
  readonly id: string;
  readonly status: string;
  readonly error: { readonly code: string; readonly message?: string } | null;
};
type CallRow = {
  readonly run_id: string;
  readonly tool: ToolName;
  readonly arguments: string;
  readonly failed: boolean | null;
  readonly answered: boolean;
  readonly outcome: string | null;
};

/**
 * Notes in the database what its rows don't keep: takeovers (the runs' own counter goes back to 0 with the next progress), and
 * answers that a process wrote after it had lost the run. (A result keeps the attempt of its call, whoever brings it.)
 */
export async function watchDatabase(query: Query): Promise<void> {
  await query(`
    create schema chaos;
    create table chaos.takes (run_id uuid, handed_over boolean);
    create function chaos.note_take() returns trigger language plpgsql as $$
      begin insert into chaos.takes values (new.id, new.handed_over); return null; end $$;
    create trigger chaos_take after update on runs for each row
      when (old.status = 'running' and new.status = 'queued' and new.parent_run is null) execute function chaos.note_take();
    create table chaos.late_writes (run_id uuid, step text, attempt integer);
    create function chaos.note_late_write() returns trigger language plpgsql as $$
      begin
        insert into chaos.late_writes select new.run_id, new.step, new.attempt from runs where id = new.run_id and epoch > ${epochSql("new.attempt")};
        return null;
      end $$;
    create trigger chaos_late_write after insert on items for each row
      when (new.kind in ('message', 'call') and new.attempt is not null) execute function chaos.note_late_write();`);
}

export async function verify(evidence: Evidence): Promise<Findings> {
  const { query, submissions, outside, complaints } = evidence;
  const runs = new Map(
    (await query<RunRow>("select id, status, error from runs where parent_run is null")).map((row) => [row.id, row]),
  );
  const statuses = (status: string) => submissions.filter(({ runId }) => runs.get(runId)?.status === status);
  const ended = ["done", "failed", "cancelled"];
  const takes = await query<{ handed_over: boolean; count: string }>(
    "select handed_over, count(*) from chaos.takes group by 1",
  );
  const takesOf = (isHandOver: boolean) => Number(takes.find((row) => row.handed_over === isHandOver)?.count ?? 0);
  const doubles = await findDoubles(query, evidence);
  const known = new Set(submissions.map(({ runId }) => runId));
  const unasked = [...runs.keys()].filter((id) => !known.has(id));
  const invariants = await checkInvariants(query);
  const unknown = await findUnknown(query, evidence);

  return {
    accepted: submissions.length,
    done: statuses("done").length,
    failed: statuses("failed").length,
    cancelled: statuses("cancelled").length,
    resumed: submissions.filter(({ resumed }) => resumed > 0).length,
    unknown: unknown.counts,
    afterFreeze: doubles.excused,
    takeovers: takesOf(false),
    handOvers: takesOf(true),
    retries: submissions.flatMap(({ streams }) => streams).reduce((sum, stream) => sum + stream.retries(), 0),
    lost: [...submissions.flatMap((submission) => lossOf(submission, runs)), ...(await findMissing(query, evidence))],
    impatient: submissions.flatMap(({ runId, script }) => {
      const { code = "" } = runs.get(runId)?.error ?? {};
      const { message = "" } = runs.get(runId)?.error ?? {};
      return code.startsWith("model_") ? [`run ${runId} (${script.tag}) failed with ${code}: ${message}`] : [];
    }),
    duplicated: [...doubles.found, ...complaints, ...unasked.map((id) => `run ${id} was accepted, and is nobody's`)],
    stuck: submissions
      .filter(({ runId }) => runs.has(runId) && !ended.includes(runs.get(runId)!.status))
      .map(({ runId, script }) => `run ${runId} (${script.tag}) is ${runs.get(runId)!.status}`),
    gaps: await findGaps(query, submissions),
    broken: [
      ...invariants.filter(({ broken }) => broken > 0).map(({ name, broken }) => `${broken}× not so: ${name}`),
      ...(await findWrongErrands(query)),
      ...unknown.unjustified,
      ...strayEffects(outside, submissions),
      ...(await findLateWrites(query)),
    ],
  };
}

/** Runs that are gone, or ended otherwise than they should. */
function lossOf({ runId, script, cancelAsked }: Submission, runs: ReadonlyMap<string, RunRow>): string[] {
  const run = runs.get(runId);
  if (!run) return [`run ${runId} (${script.tag}) is gone`];
  const code = run.error?.code ?? "";
  const isInjected = code === "taken_over_too_often" || code.startsWith("model_");
  if (run.status === "failed" && !isInjected)
    return [`run ${runId} (${script.tag}) failed without an injected fault: ${code}`];
  if (run.status === "cancelled" && !cancelAsked) return [`run ${runId} (${script.tag}) was cancelled by nobody`];
  return [];
}

/** Of runs that are done: answers that are not what the script says, calls without a result, results without their effect. */
async function findMissing(query: Query, { submissions, outside }: Evidence): Promise<string[]> {
  const answers = await query<{ run_id: string; text: string }>(
    `select distinct on (run_id) run_id, body ->> 'content' as text from items
     where kind = 'message' and step is not null order by run_id, seq desc`,
  );
  const calls = await query<CallRow>(
    `select c.run_id, c.body ->> 'name' as tool, c.body ->> 'arguments' as arguments, (r.body ->> 'isError')::boolean as failed, r.id is not null as answered, r.body ->> 'outcome' as outcome
     from items c left join items r on r.kind = 'result' and r.run_id = c.run_id and r.step = c.step and r.call_index = c.call_index and ${stands}
     where c.kind = 'call'`,
  );
  const tasks = new Set((await query<{ title: string }>("select title from tasks")).map(({ title }) => title));
  const statuses = new Map((await query<RunRow>("select id, status from runs")).map(({ id, status }) => [id, status]));
  const answerOf = new Map(answers.map((row) => [row.run_id, row.text]));
  const callsOfRun = Map.groupBy(calls, (call) => call.run_id);
  return submissions.flatMap(({ runId, script }) => {
    const found: string[] = [];
    const mine = callsOfRun.get(runId) ?? [];
    for (const { tool, arguments: given, failed, answered, outcome } of mine) {
      const { effect, title } = JSON.parse(given) as { effect?: string; title?: string };
      const happened =
        tool === "look" ||
        tool === "delegate" ||
        (tool === "add_task" ? tasks.has(title!) : outside.effectsOf(effect!).length > 0);
      if (answered && !failed && !happened) found.push(`${effect ?? title} has a result and no effect`);
      if (failed && happened && effect !== undefined && outcome === null && tool !== "look" && tool !== "delegate")
        found.push(`${effect} is called failed, and happened`);
    }
    if (statuses.get(runId) !== "done") return found;
    if (answerOf.get(runId) !== textOf(script, script.rounds.length).join(""))
      found.push(`run ${runId} (${script.tag}) has another answer`);
    if (mine.length !== script.rounds.flat().length)
      found.push(`run ${runId} (${script.tag}) has ${mine.length} calls`);
    return found;
  });
}

/** Effects that happened more than once. */
async function findDoubles(query: Query, { outside, faults }: Evidence): Promise<{ found: string[]; excused: number }> {
  const found: string[] = [];
  let excused = 0;
  for (const name of outside.names()) {
    const again = outside.effectsOf(name).slice(1);
    if (again.length === 0) continue;
    if (outside.effectsOf(name).some((effect) => wasFrozen(effect, faults))) excused += again.length;
    else found.push(`${name} happened ${again.length + 1} times`);
  }
  const tasks = await query<{ title: string; count: string }>(
    "select title, count(*) from tasks group by title having count(*) > 1",
  );
  return { found: [...found, ...tasks.map(({ title, count }) => `${title} was added ${count} times`)], excused };
}

/** The process stood still between the beginning of its tool and the arrival of the request. */
function wasFrozen({ pid, beganAt, at }: Effect, faults: readonly Fault[]): boolean {
  return faults.some(
    (fault) => fault.kind === "SIGSTOP" && (pid === 0 || fault.pid === pid) && beganAt <= fault.at && at >= fault.until,
  );
}

/** Writes of which a person was asked: only plain ones may be among them, each with harm done while it was executing. */
async function findUnknown(
  query: Query,
  { faults, outside, submissions }: Evidence,
): Promise<{ counts: Record<string, number>; unjustified: string[] }> {
  const resumed = new Set(submissions.flatMap((one) => (one.resumed > 0 ? [one.runId] : [])));
  const rows = await query<{ root: string; tool: string; given: string; began: Date; asked: Date }>(
    `select n.root_run as root, q.body ->> 'tool' as tool, q.body ->> 'arguments' as given, l.created_at as began, q.created_at as asked from items q
     join ledger l on l.run_id = q.run_id and l.step = q.step and l.call_index = q.call_index
     join runs n on n.id = q.run_id where q.kind = 'question' and q.body ->> 'reason' = 'unknown'`,
  );
  const counts: Record<string, number> = Object.fromEntries(["add_task", ...effectTools].map((tool) => [tool, 0]));
  const unjustified: string[] = [];
  for (const { root, tool, given, began, asked } of rows) {
    counts[tool] = (counts[tool] ?? 0) + 1;
    const { effect = "" } = JSON.parse(given) as { effect?: string };
    // Of a run that was stopped in the middle of the write, nobody heard its answer.
    const wasHarmed =
      resumed.has(root) ||
      outside.rudenessTo(effect) > 0 ||
      faults.some(({ at, until }) => at <= asked.getTime() && until >= began.getTime());
    // One that honours its key is called again, unless that is answered no better.
    if (!blindTools.includes(tool) && outside.rudenessTo(effect) < 2) unjustified.push(`a ${tool} was left unknown`);
    else if (!wasHarmed) unjustified.push(`a ${tool} was left unknown, and nothing was done to it`);
  }
  return { counts, unjustified };
}

/** What followers were told, against the items of their run. */
async function findGaps(query: Query, submissions: readonly Submission[]): Promise<string[]> {
  const rows = await query<{ run_id: string; seqs: string[]; ends: string[] | null }>(
    `select run_id, array_agg(seq order by seq)::text[] as seqs,
       array_agg(seq order by seq) filter (where body ->> 'type' = 'run-end')::text[] as ends
     from items where run_id is not null group by run_id`,
  );
  const stored = new Map(rows.map((row) => [row.run_id, row.seqs.join()]));
  const ends = new Map(rows.map((row) => [row.run_id, new Set(row.ends ?? [])]));
  const withoutEnds = (runId: string, seqs: readonly string[]) =>
    `,${seqs.filter((seq) => !ends.get(runId)?.has(seq)).join()},`;
  return submissions.flatMap(({ runId, script, streams, resumed }) =>
    streams.flatMap(({ faults, seqs, begun }) => {
      // Of a run that went on after its end, some followers were told until that, or from there; those that come later are not
      // told of an end that was none.
      const isWhole =
        resumed > 0
          ? withoutEnds(runId, stored.get(runId)?.split(",") ?? []).includes(withoutEnds(runId, seqs.map(String)))
          : seqs.join() === stored.get(runId);
      const missing = isWhole
        ? []
        : [
            `told items ${seqs.join()} of ${stored.get(runId)}, from ${begun.map((cursor) => cursor.split(";")[0]).join()}`,
          ];
      return [...faults, ...missing].map((text) => `run ${runId} (${script.tag}): ${text}`);
    }),
  );
}

/**
 * Delegated runs that are done and whose answer, as their parent has it, is not what their script says. A parent that ended before
 * it could read the answer, stopped or failed, says of its call that it was interrupted.
 */
async function findWrongErrands(query: Query): Promise<string[]> {
  const rows = await query<{ id: string; task: string; answer: string }>(
    `select c.id, m.body ->> 'content' as task, r.body ->> 'content' as answer from runs c
     join lateral (select body from items where run_id = c.id and kind = 'message' order by seq limit 1) m on true
     join items r on r.run_id = c.parent_run and r.kind = 'result' and r.step || '.' || r.call_index = c.parent_call and ${stands}
     join runs p on p.id = c.parent_run
     where c.status = 'done' and not (p.status in ('cancelled', 'failed') and r.body ->> 'outcome' in ('interrupted', 'not-run'))`,
  );
  return rows.flatMap(({ id, task, answer }) => {
    const script = scriptIn(task)!;
    const isRight = answer === textOf(script, script.rounds.length).join("");
    return isRight ? [] : [`the delegated run ${id} (${script.tag}) brought another answer: ${answer.slice(0, 100)}`];
  });
}

/** Steps of a process that had lost the run. */
async function findLateWrites(query: Query): Promise<string[]> {
  const rows = await query<{ run_id: string; step: string; attempt: number }>(
    "select distinct * from chaos.late_writes",
  );
  return rows.map(
    ({ run_id: run, step, attempt }) => `run ${run}: attempt ${attempt} wrote step ${step} after it had lost the run`,
  );
}

/** Effects that no script asks for. */
function strayEffects(outside: Outside, submissions: readonly Submission[]): string[] {
  const asked = new Set(submissions.flatMap(({ script }) => allCallsOf(script).map(({ effect }) => effect)));
  return outside
    .names()
    .filter((name) => !asked.has(name))
    .map((name) => `the effect ${name} was never asked for`);
}
