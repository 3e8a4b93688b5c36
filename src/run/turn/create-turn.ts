import type { AgentDefinition } from "../../protocol/agents/agents.ts";
import { ColloquyError } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import { type Item, type ItemOf, type NewItem, textOf } from "../../protocol/threads/items.ts";
import type { WaitReason } from "../../protocol/threads/runs.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { append, type AppendExtras, type Delivery, type Owner, type RunEnd } from "../log/append.ts";
import type { Call } from "../log/call-items.ts";
import { performCalls } from "./run-calls.ts";
import { stateBelow } from "../lifecycle/child-runs.ts";
import { endRun } from "../lifecycle/end-run.ts";
import { appendPatiently } from "../log/append-patiently.ts";
import type { Job } from "../engine/engine.ts";
import { settledStep } from "../step/ask-model.ts";
import { foldOf, type Fold } from "../log/fold.ts";
import { performStep, record, say } from "../step/run-step.ts";
import { isOpen, itemColumns, toItem, type ItemRow } from "../log/rows.ts";
import { standing } from "../log/standing.ts";
import type { RunSignal, Runtime, StopReason } from "../contract/runtime.ts";
import { deliveriesOf } from "../lifecycle/webhook-signals.ts";
import { delegateName } from "./team.ts";
import { publishItems } from "../lifecycle/locked-run.ts";
import { openOutage } from "../step/outage.ts";
import { partialItem } from "../step/read-answer.ts";
import type { Taken } from "../lifecycle/take-run.ts";
import { createRoomTurns } from "./room-turns.ts";
import type { RoomTurns, RunBasis, Turn } from "../contract/turn.ts";
import type { AlsoWaiting, Work } from "../step/turn-state.ts";
import { settleSpending } from "../../store/metering/spending.ts";
import { defaultStrategySettings } from "../../protocol/agents/strategies.ts";
import { windowOf } from "../log/estimate-tokens.ts";
import { offeredTools } from "../step/offered-tools.ts";

/** How long a run waits for somebody before it ends. */
const waitMs = ({ retention, outages }: Pick<Runtime, "retention" | "outages">, reason: WaitReason) => {
  if (reason === "provider") return outages.waitMs;
  return reason === "client" ? retention.clientWaitMinutes * 60_000 : retention.waitDays * 86_400_000;
};

export type WorkOptions = {
  readonly job: Job | undefined;
  /** Of a child: whose epoch it works under. */
  readonly root?: Pick<Owner, "runId" | "epoch">;
  readonly workOnChild: (work: Work, child: Taken) => Promise<void>;
  /** Tells the runs above that there was progress, so that they are not taken for what kills processes. */
  readonly progressed?: () => Promise<void>;
  /** The branch, as far as it was read; all of the run's own items. */
  readonly history: readonly Item[];
  readonly signal: AbortSignal;
  /** Fires the signal. */
  readonly stop: (reason: StopReason) => void;
};

export function createWork(runtime: Runtime, taken: Taken, options: WorkOptions): Work {
  const { job, history, signal, stop } = options;
  const { database, feeds, deltas } = runtime;
  const { definition, epoch, runId, threadId } = taken;
  const owner: Owner = { runId, epoch, threadId };
  const root = options.root ?? owner;
  const branch = [...history];
  let mine = history.filter((item) => item.runId === runId);
  let fold: Fold | undefined;
  let basis: RunBasis | undefined;
  let room: RoomTurns | undefined;
  let left: "ended" | "waiting" | undefined;
  let pending = 0;
  let steered = taken.steered;
  let progress = taken.takeovers > 0;

  /** The world outside hears of roots only. */
  const signals = (event: RunSignal, rest: { reason?: string; error?: RunEnd["error"] } = {}): readonly Delivery[] =>
    !job
      ? []
      : deliveriesOf(runtime, {
          runId,
          threadId,
          agent: definition.agent.id,
          event,
          callback: definition.options.callback,
          ...rest,
        });

  const endSignals = (end: RunEnd) => signals(end.status, end.error ? { error: end.error } : {});

  const committed = (items: readonly Item[]) => {
    if (items.length === 0) return;
    feeds.publish(threadId, items);
    deltas.touch(threadId);
    mine.push(...items);
    branch.push(...items);
    fold = undefined;
    basis = undefined;
  };

  /** Reads what others have added to the run: results that a client brought, a message that was taken in. */
  const reload = async () => {
    const rows = await database.query<ItemRow>(`select ${itemColumns} from items where run_id = $1 order by seq`, [
      runId,
    ]);
    const known = new Set(mine.map((item) => item.id));
    mine = [...standing(rows.map(toItem))];
    branch.push(...mine.filter((item) => !known.has(item.id)));
    fold = undefined;
    basis = undefined;
  };

  async function takeIn(seen?: number): Promise<boolean> {
    const now = seen ?? (await steeredNow());
    if (now === undefined || now === steered) return false;
    steered = now;
    await reload();
    return true;
  }

  async function steeredNow(query: Query = database.query): Promise<number | undefined> {
    const [row] = await query<{ steered: number }>(
      "select steered from runs where id = $1 and epoch = $2 and status = 'running'",
      [runId, epoch],
    );
    return row?.steered;
  }

  const commit = async (given: readonly NewItem[], extras: AppendExtras = {}) => {
    // An answer says by itself that the model is back.
    const outage = given.some(isAnswer) ? openOutage(work) : undefined;
    const items = outage ? [overcome(outage), ...given] : given;
    const deliveries = extras.end ? endSignals(extras.end) : [];
    const appended = await appendPatiently(database.query, owner, {
      items,
      extras: { ...extras, deliveries, ...(progress ? { progress } : {}) },
      signal,
      log: runtime.log,
    });
    if (progress) await options.progressed?.();
    progress = false;
    pending = appended.pending;
    committed(appended.items);
    if (extras.end) left = "ended";
  };

  const progressed = async () => {
    if (!progress) return;
    await database.query("update runs set takeovers = 0 where id = $1 and epoch = $2", [runId, epoch]);
    progress = false;
    await options.progressed?.();
  };

  /** In statements of their own, the root first: what is read after them is newer than any decision. Undefined: lost. */
  async function lock(query: Query): Promise<{ readonly cancel_asked: boolean } | undefined> {
    if (!job) await query("select 1 from runs where id = $1 for update", [root.runId]);
    const [held] = await query<{ cancel_asked: boolean }>(
      "select cancel_asked from runs where id = $1 and epoch = $2 and status = 'running' for update",
      [runId, epoch],
    );
    return held;
  }

  /** Before a transaction of several statements: what all runs of an account count in is locked for none but its own. */
  const settle = async (spent: AppendExtras["spent"]) => spent && settleSpending(database.query, spent);

  async function end(status: RunEnd): Promise<void> {
    let before: NewItem[] = [];
    let extras: AppendExtras = { deliveries: endSignals(status) };
    if (work.current) {
      const { key, answer } = work.current;
      const partial = partialItem(answer, { step: key, author: definition.agent.id });
      if (partial) before = [partial];
      const { spent, ...rest } = settledStep(work, key, work.current);
      await settle(spent);
      extras = { ...extras, ...rest };
      work.current = undefined;
    }
    const ended = await database.transaction(async (query) => {
      await lock(query);
      return endRun(query, owner, { end: status, before, extras });
    });
    left = "ended";
    pending = ended.pending;
    for (const child of ended.below) publishItems(runtime, child.threadId, child.items);
    committed(ended.items);
  }

  type Waiting = { readonly reason: WaitReason; readonly text: string } & AlsoWaiting;

  /** `ask` looks, with all locked, whether there is still something to wait for. */
  async function waitFor(ask: (query: Query) => Promise<Waiting | undefined>): Promise<boolean> {
    const appended = await database.transaction(async (query) => {
      const held = await lock(query);
      if (held?.cancel_asked) return "cancelled";
      const waiting = await ask(query);
      if (!waiting) return undefined;
      const { reason, text, items = [], error, retryMs, mostMs = waitMs(runtime, reason), ...also } = waiting;
      const state: NewItem = {
        id: newId(),
        kind: "state",
        body: { type: "run-wait", reason, text, ...(error ? { error } : {}) },
      };
      // It asked again in vain, or others below it did: there is nothing new to say.
      const isSame = items.length === 0 && waitsFor(mine.at(-1)) === reason;
      const jobId = job && retryMs !== undefined ? newId() : undefined;
      const result = await append(query, owner, isSame ? [] : [...items, state], {
        wait: { reason, mostMs, retry: retryMs === undefined ? undefined : { afterMs: retryMs, jobId } },
        deliveries: isSame ? [] : signals("waiting", { reason }),
        ...also,
      });
      if (job) await runtime.engine.complete(job, query);
      if (jobId) await runtime.engine.send(query, { id: jobId, runId, userId: taken.caller.userId, afterMs: retryMs! });
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
    work.current = undefined;
    committed(appended.items);
    return true;
  }

  const wait: Work["wait"] = async (reason, text, { spent, ...also } = {}) => {
    await settle(spent);
    return waitFor(async (query) =>
      reason === "client" && (await openClientCalls(query, runId)) === 0 ? undefined : { reason, text, ...also },
    );
  };

  const waitForChildren: Work["waitForChildren"] = (options) =>
    waitFor(async (query) => {
      if (options?.unlessSteered && (await steeredNow(query)) !== steered) return undefined;
      const below = await stateBelow(query, runId);
      return below === undefined || below === "ready"
        ? undefined
        : { ...below, text: `a run that it delegated waits (${below.reason})` };
    });

  const turn: Turn = {
    get run() {
      return (basis ??= basisOf(work));
    },
    get fold() {
      return (fold ??= foldOf(mine));
    },
    step: (key, options) => performStep(work, key, options),
    async call(calls) {
      await performCalls(work, calls);
      // A strategy has nothing more to do then; what follows here is for its next turn.
      if (left === "waiting") throw new Error("The run waits.");
    },
    say: (key, text, options) => say(work, key, text, options),
    record: (key, note) => record(work, key, note),
    async ask(key, question) {
      const asked = mine.find(
        (item): item is ItemOf<"question"> => item.kind === "question" && item.step === key && item.index === null,
      );
      const decision = mine.find(
        (item): item is ItemOf<"decision"> => item.kind === "decision" && item.body.question === asked?.id,
      );
      if (decision) return decision.body;
      const item: NewItem = { id: newId(), kind: "question", step: key, body: { reason: "question", ...question } };
      await wait("question", question.text, { items: asked ? [] : [item] });
      throw new Error("The run waits.");
    },
    async use(key, call) {
      const made = mine.find((item): item is Call => item.kind === "call" && item.step === key);
      if (!made) await commit([callItem(key, call, definition.agent.id)]);
      const open = turn.fold.openCalls.filter((item) => item.step === key);
      await turn.call(open);
      return mine.find((item): item is ItemOf<"result"> => item.kind === "result" && item.step === key)!.body;
    },
    get room() {
      return (room ??= createRoomTurns(work));
    },
    delegate: (key, errand) => turn.use(key, { name: delegateName, arguments: JSON.stringify(errand) }),
  };
  const work: Work = {
    runtime,
    taken,
    job,
    owner,
    root,
    workOnChild: (child) => options.workOnChild(work, child),
    signal,
    turn,
    current: undefined,
    asked: undefined,
    items: () => mine,
    branch: () => branch,
    left: () => left,
    pending: () => pending,
    steered: () => steered,
    takeIn,
    commit,
    end,
    wait,
    waitForChildren,
    progressed,
    committed,
  };
  return work;
}

function callItem(step: string, call: Pick<Call["body"], "name" | "arguments">, author: string): NewItem {
  const body = { ...call, target: "server" } as const;
  return { id: newId(), kind: "call", step, index: 0, author, body };
}

function isAnswer(item: NewItem): boolean {
  return item.kind === "message" && item.step !== undefined && item.body.role === "assistant";
}

/** Nobody had to decide. */
function overcome({ id: question }: ItemOf<"question">): NewItem {
  return { id: newId(), kind: "decision", body: { question, decision: "retry", text: "It answers again." } };
}

function waitsFor(item: Item | undefined): WaitReason | undefined {
  return item?.kind === "state" && item.body.type === "run-wait" ? item.body.reason : undefined;
}

async function openClientCalls(query: Query, runId: string): Promise<number> {
  const [row] = await query<{ open: number }>(
    `select count(*)::integer as open from items c where c.run_id = $1 and c.kind = 'call' and c.body ->> 'target' = 'client' and ${isOpen}`,
    [runId],
  );
  return row!.open;
}

/** What a strategy may know of its run: all of it was fixed at the start, but for the tools that it has found since. */
function basisOf(work: Work): RunBasis {
  const {
    agent,
    options,
    limits,
    team = [],
    prompts = {},
    strategies = defaultStrategySettings,
  } = work.taken.definition;
  return {
    agent,
    limits,
    tools: [...offeredTools(work, roomOf(work, agent)).tools, ...(options.clientTools ?? [])],
    team,
    prompts,
    settings: strategies,
    input: inputOf(work.items()),
  };
}

/** Of a model that is gone, or has no key, a step will say so. */
function roomOf({ runtime: { models } }: Work, agent: AgentDefinition): number {
  try {
    return windowOf(models.get(agent.model), agent);
  } catch (error) {
    if (error instanceof ColloquyError) return Infinity;
    throw error;
  }
}

function inputOf(items: readonly Item[]): string {
  for (const item of items)
    if (item.kind === "message" && item.step === null && !("erased" in item.body)) return textOf(item.body.content);
  return "";
}
