import type { Caller } from "../../protocol/base/callers.ts";
import { Conflict, AccessDenied, NotFound } from "../../protocol/base/errors.ts";
import { isId, newId } from "../../protocol/base/ids.ts";
import type { Item, ItemOf, NewItem } from "../../protocol/threads/items.ts";
import { isEnded, type RunDefinition, type RunStatus } from "../../protocol/threads/runs.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import { callKey, foldOf, isErased, isNested } from "../log/fold.ts";
import { itemsOfRun, noRun } from "../lifecycle/locked-run.ts";
import { currentOwner } from "../lifecycle/owner.ts";
import { modelOf } from "../turn/define-run.ts";
import type { ForkInput, RunStart } from "../runs.ts";
import type { Runtime } from "../contract/runtime.ts";
import { startOrQueue } from "./admit.ts";
import { checkModel } from "../turn/check-model.ts";
import { definitionSql } from "../log/run-definitions.ts";

type ForkSource = {
  readonly threadId: string;
  readonly definition: RunDefinition;
  readonly caller: Caller;
  /** The message that started the run. */
  readonly message: ItemOf<"message">;
  readonly items: readonly Item[];
};

/**
 * A new run on a branch beside another one, whose fold begins with copies of that one's steps. Whatever these called has its
 * result there, so nothing of it is called again; its writes stand in the ledger of the first run, under the keys they had.
 */
export async function forkRun(runtime: Runtime, caller: Caller, runId: string, input: ForkInput): Promise<RunStart> {
  if (input.instructions !== undefined && caller.role !== "admin")
    throw new AccessDenied(403, "Only admins can change an agent's instructions. Put them in the input instead.");
  if (input.model !== undefined) checkModel(runtime.models, caller, input.model, "model");
  const source = await sourceOf(runtime.database.query, caller, runId);
  const kept = keptOf(source.items, input.step);
  const copies = copiesOf(kept, runId, source.message.seq);
  if (foldOf(kept).answer)
    throw new Conflict(`Step ${input.step} is the run's answer, so nothing follows it: fork from an earlier step.`, {
      code: "nothing_left",
    });
  const { threadId, message } = source;
  const body = { ...message.body, ...(input.input === undefined ? { again: message.body.again ?? message.id } : {}) };
  const first: NewItem = {
    id: newId(),
    kind: "message",
    ...(message.author === null ? {} : { author: message.author }),
    body: input.input === undefined ? body : { ...body, content: input.input },
  };
  const id = newId();
  const beginning = {
    runId: id,
    threadId,
    caller: await currentOwner(runtime.database.query, source.caller),
    definition: changed(runtime, source.definition, input),
    items: [first, ...copies].map((item) => ({ ...item, run: id })),
    origin: { run: runId, kind: "fork" as const, step: input.step },
    idempotency: input.idempotency ?? null,
    after: message.parentId,
    newThread: null,
  };
  return startOrQueue(runtime, beginning, { mode: "reject" });
}

async function sourceOf(query: Query, { userId, role }: Caller, runId: string): Promise<ForkSource> {
  type Row = {
    thread_id: string;
    status: RunStatus;
    parent_run: string | null;
    root_run: string;
    is_room: boolean;
  } & Pick<ForkSource, "definition" | "caller">;
  const [row] = isId(runId)
    ? await query<Row>(
        `select thread_id, status, parent_run, root_run, ${definitionSql("runs")} as definition, caller, exists (select 1 from rooms where rooms.thread_id = runs.thread_id) as is_room
         from runs where id = $1 and ($2::uuid is null or user_id = $2)`,
        [runId, role === "admin" ? null : userId],
      )
    : [];
  if (!row) throw noRun(runId);
  if (row.is_room)
    throw new Conflict("Messages in a room can't be changed: write a new message instead.", {
      code: "thread_is_room",
    });
  if (row.parent_run !== null)
    throw new Conflict(`The run is a part of run ${row.root_run}: fork that one.`, { code: "run_not_root" });
  // Before its items are read: what it still does would be done by both.
  if (!isEnded(row.status))
    throw new Conflict("The run has not ended. Stop it, or wait for its end; then fork it.", { code: "run_live" });
  const items = await itemsOfRun(query, runId);
  if (items.some(isErased)) throw new Conflict("Part of the run's content was erased.", { code: "run_erased" });
  const message = items.find(
    (item): item is ItemOf<"message"> => item.kind === "message" && item.step === null && item.body.role === "user",
  );
  if (!message)
    throw new NotFound("The run has no steps: it was not started by a message.", { code: "step_not_found" });
  return { threadId: row.thread_id, definition: row.definition, caller: row.caller, message, items };
}

/** All of the run up to the end of a step, and the results of what was called until then. */
function keptOf(items: readonly Item[], step: string): readonly Item[] {
  const ofSteps = items.filter(
    (item) => (item.kind === "message" || item.kind === "call") && item.step !== null && !isNested(item),
  );
  const isPart = (item: Item) => item.step === step || (item.step?.startsWith(`${step}.`) ?? false);
  const whole = ofSteps.filter((item) => item.kind !== "message" || item.body.partial !== true);
  if (!whole.some((item) => item.step === step)) {
    const steps = [...new Set(whole.map((item) => item.step))].join(", ");
    throw new NotFound(`The run has no step ${step}${steps === "" ? "" : `; it has ${steps}`}.`, {
      code: "step_not_found",
      param: "step",
    });
  }
  const end = items.findLast(isPart)!.seq;
  const before = items.filter((item) => item.seq <= end);
  const calls = new Set(before.filter(({ kind }) => kind === "call").map(callKey));
  const later = items.filter((item) => item.seq > end && item.kind === "result" && calls.has(callKey(item)));
  return [...before, ...later].filter(isKept);
}

/** Whether a fork copies the item: what the run did, but not its states and unanswered questions. */
function isKept(item: Item, _at: number, all: readonly Item[]): boolean {
  switch (item.kind) {
    case "state":
      return item.body.type === "strategy";
    case "message":
      return item.body.partial !== true;
    case "question":
      return all.some(
        (one) => one.kind === "decision" && one.body.question === item.id && one.body.decision !== "withdrawn",
      );
    case "decision":
      return item.body.decision !== "withdrawn";
    case "result":
      // It was not begun, so it is done by the fork; one of which nobody knows stays unknown there.
      return item.body.outcome !== "interrupted";
    default:
      return true;
  }
}

/** After the message that began the run. A summary of what the run itself had said would name places that are elsewhere now. */
function copiesOf(kept: readonly Item[], runId: string, begun: number): NewItem[] {
  const ids = new Map(kept.map(({ id }) => [id, newId()]));
  const answered = new Set(kept.filter(({ kind }) => kind === "result").map(callKey));
  return kept.flatMap((item): NewItem[] => {
    if (item.seq === begun || (item.kind === "summary" && item.body.upToSeq >= begun)) return [];
    const { id, kind, step, index, attempt, author } = item;
    const place = {
      id: ids.get(id)!,
      kind,
      ...(step === null ? {} : { step }),
      ...(index === null ? {} : { index }),
      ...(attempt === null ? {} : { attempt }),
      ...(author === null ? {} : { author }),
    };
    const body = bodyOf(item, ids);
    // A call without a result is made by the fork itself.
    const isDone = kind === "message" || kind === "result" || (kind === "call" && answered.has(callKey(item)));
    return [{ ...place, body: isDone ? { ...body, kept: runId } : body } as NewItem];
  });
}

function bodyOf(item: Item, ids: ReadonlyMap<string, string>): Item["body"] {
  if (item.kind === "decision") return { ...item.body, question: ids.get(item.body.question) ?? item.body.question };
  if (item.kind !== "message") return item.body;
  const { seen: _seen, ...body } = item.body;
  return body;
}

function changed(runtime: Runtime, definition: RunDefinition, { instructions, model }: ForkInput): RunDefinition {
  const { agent, options } = definition;
  return {
    ...definition,
    agent: {
      ...agent,
      ...(model === undefined ? {} : { model }),
      ...(instructions === undefined ? {} : { instructions }),
    },
    ...(model === undefined ? {} : { options: { ...options, model }, ...modelOf(runtime, model) }),
  };
}
