import { newId } from "../protocol/ids.ts";
import type { Item, NewItem } from "../protocol/items.ts";
import type { WaitReason } from "../protocol/runs.ts";
import type { Query } from "../protocol/tools.ts";
import { append, type AppendExtras, type Delivery, type Owner, type RunEnd } from "./append.ts";
import { performCalls } from "./calls.ts";
import { endRun } from "./end-run.ts";
import type { Job } from "./engine.ts";
import { foldOf, type Fold } from "./fold.ts";
import { performStep } from "./perform-step.ts";
import { itemColumns, toItem, type ItemRow } from "./rows.ts";
import type { Retention, RunSignal, Runtime, StopReason } from "./runtime.ts";
import { deliveriesOf } from "./signals.ts";
import { partialItem } from "./step.ts";
import type { Taken } from "./take.ts";
import type { Turn } from "./turn.ts";
import type { AlsoWaiting, Work } from "./work.ts";

/** How long a run waits for somebody before it ends. */
const waitMs = ({ clientWaitMinutes, waitDays }: Retention, reason: WaitReason) =>
  reason === "client" ? clientWaitMinutes * 60_000 : waitDays * 86_400_000;

export type WorkOptions = {
  readonly job: Job;
  /** The branch, as far as it was read; all of the run's own items. */
  readonly history: readonly Item[];
  readonly signal: AbortSignal;
  /** Fires the signal. */
  readonly stop: (reason: StopReason) => void;
};

export function createWork(runtime: Runtime, taken: Taken, { job, history, signal, stop }: WorkOptions): Work {
  const { database, feeds, deltas } = runtime;
  const { definition, epoch, runId, threadId } = taken;
  const owner: Owner = { runId, epoch, threadId };
  const branch = [...history];
  let mine = history.filter((item) => item.runId === runId);
  let fold: Fold | undefined;
  let left: "ended" | "waiting" | undefined;
  let pending = 0;
  let steered = taken.steered;
  let progress = taken.takeovers > 0;

  const signals = (event: RunSignal, rest: { reason?: string; error?: RunEnd["error"] } = {}): readonly Delivery[] =>
    deliveriesOf(runtime, { runId, threadId, agent: definition.agent.id, event, ...rest });

  const endSignals = (end: RunEnd) => signals(end.status, end.error ? { error: end.error } : {});

  const committed = (items: readonly Item[]) => {
    feeds.publish(threadId, items);
    deltas.touch(threadId);
    mine.push(...items);
    branch.push(...items);
    fold = undefined;
  };

  /** Reads what others have added to the run: results that a client brought, a message that was taken in. */
  const reload = async () => {
    const rows = await database.query<ItemRow>(`select ${itemColumns} from items where run_id = $1 order by seq`, [
      runId,
    ]);
    const known = new Set(mine.map((item) => item.id));
    mine = rows.map(toItem);
    branch.push(...mine.filter((item) => !known.has(item.id)));
    fold = undefined;
  };

  async function takeIn(seen?: number): Promise<boolean> {
    const now = seen ?? (await steeredNow());
    if (now === undefined || now === steered) return false;
    steered = now;
    await reload();
    return true;
  }

  async function steeredNow(): Promise<number | undefined> {
    const [row] = await database.query<{ steered: number }>(
      "select steered from runs where id = $1 and epoch = $2 and status = 'running'",
      [runId, epoch],
    );
    return row?.steered;
  }

  const commit = async (items: readonly NewItem[], extras: AppendExtras = {}) => {
    const deliveries = extras.end ? endSignals(extras.end) : [];
    const appended = await append(database.query, owner, items, {
      ...extras,
      deliveries,
      ...(progress ? { progress } : {}),
    });
    progress = false;
    pending = appended.pending;
    committed(appended.items);
    if (extras.end) left = "ended";
  };

  async function end(status: RunEnd): Promise<void> {
    let before: NewItem[] = [];
    let extras: AppendExtras = { deliveries: endSignals(status) };
    if (work.current) {
      const { key, answer } = work.current;
      const partial = partialItem(answer, { step: key, attempt: epoch, author: definition.agent.id });
      if (partial) before = [partial];
      extras = { ...extras, modelCalls: answer.records, ...(deltas.settle(runId, key) ? { deltasOf: key } : {}) };
      work.current = undefined;
    }
    const appended = await database.transaction((query) => endRun(query, owner, { end: status, before, extras }));
    left = "ended";
    pending = appended.pending;
    committed(appended.items);
  }

  async function wait(reason: WaitReason, text: string, { items = [], ...also }: AlsoWaiting = {}): Promise<boolean> {
    const appended = await database.transaction(async (query) => {
      // In a statement of its own: what the next one reads is then newer than any decision.
      const [held] = await query<{ cancel_asked: boolean }>(
        "select cancel_asked from runs where id = $1 and epoch = $2 and status = 'running' for update",
        [runId, epoch],
      );
      if (held?.cancel_asked) return "cancelled";
      if (held && reason === "client" && (await openClientCalls(query, runId)) === 0) return undefined;
      const state: NewItem = { id: newId(), kind: "state", body: { type: "run-wait", reason, text } };
      const result = await append(query, owner, [...items, state], {
        wait: { reason, mostMs: waitMs(runtime.retention, reason) },
        deliveries: signals("waiting", { reason }),
        ...also,
      });
      await runtime.engine.complete(job, query);
      return result;
    });
    if (appended === "cancelled") {
      // Whoever asked was told that the run's owner would see to it; nobody else would, once it waits.
      stop("cancelled");
      throw signal.reason;
    }
    if (!appended) {
      await reload();
      return false;
    }
    left = "waiting";
    committed(appended.items);
    return true;
  }

  const turn: Turn = {
    get fold() {
      return (fold ??= foldOf(mine));
    },
    step: (key, options) => performStep(work, key, options),
    async call(calls) {
      await performCalls(work, calls);
      // A strategy has nothing more to do then; what follows here is for its next turn.
      if (left === "waiting") throw new Error("The run waits.");
    },
  };
  const work: Work = {
    runtime,
    taken,
    job,
    owner,
    signal,
    turn,
    current: undefined,
    items: () => mine,
    branch: () => branch,
    left: () => left,
    pending: () => pending,
    steered: () => steered,
    takeIn,
    commit,
    end,
    wait,
    committed,
  };
  return work;
}

async function openClientCalls(query: Query, runId: string): Promise<number> {
  const [row] = await query<{ open: number }>(
    `select count(*)::integer as open from items c where c.run_id = $1 and c.kind = 'call' and c.body ->> 'target' = 'client'
       and not exists (select from items r where r.run_id = $1 and r.kind = 'result' and r.step = c.step and r.call_index = c.call_index)`,
    [runId],
  );
  return row!.open;
}
