import { newId } from "../protocol/ids.ts";
import type { Item, ItemOf, NewItem } from "../protocol/items.ts";
import type { Model, ModelRequest } from "../protocol/models.ts";
import type { WaitReason } from "../protocol/runs.ts";
import { append, type AppendExtras, type Owner, type RunEnd } from "./append.ts";
import { performCalls } from "./calls.ts";
import { endItem, endRun } from "./end-run.ts";
import type { Job } from "./engine.ts";
import { foldOf, type Fold } from "./fold.ts";
import { reserve } from "./limits.ts";
import { buildPrompt, estimate, schemaTokens } from "./prompt.ts";
import { itemColumns, toItem, type ItemRow } from "./rows.ts";
import type { Runtime, StopReason } from "./runtime.ts";
import { answerItems, emptyAnswer, partialItem, readAnswer, type Answer } from "./step.ts";
import type { Taken } from "./take.ts";
import type { StepOptions, Turn } from "./turn.ts";
import type { AlsoWaiting, Work } from "./work.ts";

/** How long a run waits for somebody before it ends. */
const waitMs = (reason: WaitReason) => (reason === "client" ? 3_600_000 : 7 * 86_400_000);

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
  let progress = taken.takeovers > 0;
  /** The step that is being read; what there is of it is kept if the run ends over it. */
  let current: { key: string; answer: Answer } | undefined;
  const clientNames = new Set(definition.options.clientTools?.map((tool) => tool.name));

  const committed = (items: readonly Item[]) => {
    feeds.publish(threadId, items);
    deltas.touch(threadId);
    mine.push(...items);
    branch.push(...items);
    fold = undefined;
  };

  const commit = async (items: readonly NewItem[], extras: AppendExtras = {}) => {
    const appended = await append(database.query, owner, items, progress ? { ...extras, progress } : extras);
    progress = false;
    pending = appended.pending;
    committed(appended.items);
    if (extras.end) left = "ended";
  };

  async function step(key: string, options: StepOptions = {}): Promise<void> {
    if (mine.some((item) => item.kind === "message" && item.step === key)) return;
    signal.throwIfAborted();
    const model = runtime.models.get(definition.agent.model);
    const request = stepRequest(model, options);
    const reserved = estimateRequest(request);
    await reserve(database.query, owner, { steps: 1, tokens: reserved });
    const answer = await attempt(key, model, request);
    const place = { step: key, attempt: epoch, author: definition.agent.id };
    const items = answerItems(answer, place, (name) => clientNames.has(name));
    const ends = Boolean(options.final) && answer.calls.length === 0;
    await commit(ends ? [...items, endItem({ status: "done" })] : items, {
      ...settled(key, answer, reserved),
      ...(ends ? { end: { status: "done" } } : {}),
    });
  }

  /** The answer of one attempt; it stays `current` if it breaks off. */
  async function attempt(key: string, model: Model, request: ModelRequest): Promise<Answer> {
    const answer = emptyAnswer();
    current = { key, answer };
    const origin = { userId: taken.caller.userId, runId, step: key, attempt: epoch };
    await readAnswer(
      model,
      { ...request, origin },
      {
        signal,
        answer,
        tell(kind, offset, text) {
          const delta = { runId, threadId, step: key, attempt: epoch, kind, offset, text };
          feeds.delta(delta);
          deltas.add(delta);
        },
      },
    );
    current = undefined;
    return answer;
  }

  const settled = (key: string, answer: Answer, reserved: number): AppendExtras => ({
    modelCalls: answer.records,
    tokens: answer.usage ? answer.usage.inputTokens + answer.usage.outputTokens - reserved : 0,
    ...(deltas.settle(runId, key) ? { deltasOf: key } : {}),
  });

  function stepRequest(model: Model, options: StepOptions): ModelRequest {
    const { agent, options: asked } = definition;
    const settings = { ...agent.settings, ...asked.settings, ...options.settings };
    const offered = options.withoutTools ? [] : [...definition.tools, ...(asked.clientTools ?? [])];
    const room = settings.maxTokens ?? Math.min(4096, Math.floor(model.contextTokens / 4));
    const format = options.format ?? asked.format;
    const first = !mine.some((item) => item.kind === "message" && item.step !== null);
    return {
      messages:
        options.messages ??
        buildPrompt(branch, {
          runId,
          instructions: options.instructions ?? agent.instructions,
          tokens: model.contextTokens - room - schemaTokens(offered),
        }),
      settings,
      ...(offered.length > 0 ? { tools: offered } : {}),
      // A forced choice is for the first step only: the model could never answer otherwise.
      ...(offered.length > 0 && asked.toolChoice !== undefined && (first || asked.toolChoice === "none")
        ? { toolChoice: asked.toolChoice }
        : {}),
      ...(format === undefined ? {} : { format }),
    };
  }

  async function nestedStep(
    key: string,
    request: Pick<ModelRequest, "messages" | "format" | "settings">,
  ): Promise<string> {
    const known = mine.find((item): item is ItemOf<"message"> => item.kind === "message" && item.step === key);
    if (known) return String(known.body.content);
    const model = runtime.models.get(definition.agent.model);
    const reserved = estimateRequest(request);
    await reserve(database.query, owner, { steps: 1, tokens: reserved });
    const answer = emptyAnswer();
    const origin = { userId: taken.caller.userId, runId, step: key, attempt: epoch };
    await readAnswer(model, { ...request, origin }, { signal, answer, tell: () => {} });
    const place = { step: key, attempt: epoch, author: definition.agent.id };
    await commit(
      answerItems({ ...answer, calls: [] }, place, () => false),
      settled(key, answer, reserved),
    );
    return answer.text;
  }

  async function end(status: RunEnd): Promise<void> {
    let before: NewItem[] = [];
    let extras: AppendExtras = {};
    if (current) {
      const { key, answer } = current;
      const partial = partialItem(answer, { step: key, attempt: epoch, author: definition.agent.id });
      if (partial) before = [partial];
      extras = { modelCalls: answer.records, ...(deltas.settle(runId, key) ? { deltasOf: key } : {}) };
      current = undefined;
    }
    const appended = await database.transaction((query) => endRun(query, owner, { end: status, before, extras }));
    left = "ended";
    pending = appended.pending;
    committed(appended.items);
  }

  async function wait(reason: WaitReason, text: string, { items = [], ledger }: AlsoWaiting = {}): Promise<boolean> {
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
        wait: { reason, until: new Date(Date.now() + waitMs(reason)) },
        ...(ledger ? { ledger } : {}),
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
      const rows = await database.query<ItemRow>(`select ${itemColumns} from items where run_id = $1 order by seq`, [
        runId,
      ]);
      const known = new Set(mine.map((item) => item.id));
      mine = rows.map(toItem);
      branch.push(...mine.filter((item) => !known.has(item.id)));
      fold = undefined;
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
    step,
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
    left: () => left,
    pending: () => pending,
    commit,
    end,
    wait,
    committed,
    nestedStep,
  };
  return work;
}

async function openClientCalls(query: Parameters<typeof append>[0], runId: string): Promise<number> {
  const [row] = await query<{ open: number }>(
    `select count(*)::integer as open from items c where c.run_id = $1 and c.kind = 'call' and c.body ->> 'target' = 'client'
       and not exists (select from items r where r.run_id = $1 and r.kind = 'result' and r.step = c.step and r.call_index = c.call_index)`,
    [runId],
  );
  return row!.open;
}

function estimateRequest(request: Pick<ModelRequest, "messages" | "settings">): number {
  const prompt = request.messages.reduce((sum, message) => sum + estimate(message.content), 0);
  return prompt + (request.settings?.maxTokens ?? 0);
}
