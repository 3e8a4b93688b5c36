import { createHash } from "node:crypto";
import { LostRun } from "../protocol/errors.ts";
import { textOf, type Item } from "../protocol/items.ts";
import { isEnded, type Errand } from "../protocol/runs.ts";
import type { Query, ToolResult } from "../protocol/tools.ts";
import { errorResult } from "../tools/tool-result.ts";
import type { Call } from "./call-item.ts";
import { ensureChild, findChild, takeChild, type Child, type ChildBeginning } from "./children.ts";
import { defineRun } from "./define-run.ts";
import { callKey, foldOf } from "./fold.ts";
import { itemsOfRun } from "./locked.ts";
import type { DelegateInput } from "./team.ts";
import type { Work } from "./work.ts";

/** Runs below one another; what needs more is most likely going in circles. */
const deepest = 5;

/** Children of one run that work at the same time; the others wait for their turn. */
const mostAtOnce = 8;

/**
 * Does a call of the delegate tool: a child run with a context of its own, inside the job and the limits of this one. After
 * a crash the same call finds the same child, which goes on. `waits`: nothing more can be done until a person has decided.
 */
export async function delegate(work: Work, call: Call, { agent, task }: DelegateInput): Promise<ToolResult | "waits"> {
  const member = work.taken.definition.team?.find((one) => one.agent.id === agent)?.agent;
  if (!member) return errorResult(`There is no agent ${agent} to hand work to.`);
  const path = pathTo(work);
  const errand: Errand = { agent, task: hashOf(task) };
  if (path.length >= deepest)
    return errorResult(`Not delegated: ${deepest} runs below one another are enough. Do it yourself.`);
  if (path.some((above) => above.agent === errand.agent && above.task === errand.task))
    return errorResult(`Not delegated: ${agent} is at work on this very task already, and waits for you.`);
  const { caller, definition } = work.taken;
  const within = { limits: definition.limits, path: [...path, errand] };
  const beginning: ChildBeginning = {
    call: callKey(call),
    title: task.slice(0, 80),
    definition: defineRun(work.runtime, caller, { agent: member, options: {}, within }),
    caller,
    task,
  };
  return turnOf(work, async () => {
    const child = await ensureChild(work.runtime.database.query, work.owner, beginning);
    if (!child) throw new LostRun(work.owner.runId);
    const place = { step: call.step!, index: call.index! };
    work.runtime.feeds.progress(work.owner.threadId, {
      run: work.owner.runId,
      ...place,
      text: `${agent} works on it in run ${child.id}`,
    });
    return bringToEnd(work, child, beginning.call);
  });
}

/** Works on a child until it has ended or waits. Throws as the parent's own work would if it can't go on here. */
async function bringToEnd(work: Work, first: Child, call: string): Promise<ToolResult | "waits"> {
  const { database, node } = work.runtime;
  for (let child = first; ;) {
    if (isEnded(child.status)) return outcomeOf(database.query, child);
    if (child.status === "waiting") return "waits";
    work.signal.throwIfAborted();
    const taken = await takeChild(database, node, { childId: child.id, root: work.root });
    if (taken) await work.workOnChild(taken);
    work.signal.throwIfAborted();
    const now = await findChild(database.query, work.owner, call);
    // Not taken, and yet it neither ended nor waits: then it is the root that is not ours.
    if (!now || (!taken && now.status !== "waiting" && !isEnded(now.status))) throw new LostRun(work.owner.runId);
    child = now;
  }
}

async function outcomeOf(query: Query, child: Child): Promise<ToolResult> {
  const items = await itemsOfRun(query, child.id);
  const data = { run: child.id, thread: child.threadId, status: child.status };
  if (child.status === "done") return { content: answerIn(items), data };
  const why = child.error ? `: ${child.error.message}` : "";
  return { content: `The delegated run ${child.status}${why}`, isError: true, data };
}

function answerIn(items: readonly Item[]): string {
  const { answer } = foldOf(items);
  return (answer && textOf(answer.body.content)) || "(no answer)";
}

/** From the root down to this run. */
function pathTo(work: Work): readonly Errand[] {
  return work.taken.definition.path ?? [{ agent: work.taken.definition.agent.id, task: hashOf(work.turn.run.input) }];
}

function hashOf(task: string): string {
  return createHash("sha256").update(task.trim()).digest("base64url");
}

type Turns = { active: number; readonly waiting: (() => void)[] };
const turns = new WeakMap<Work, Turns>();

/** Of each run by itself: a child that waits for its own children must not keep them from their turn. */
async function turnOf<Value>(work: Work, body: () => Promise<Value>): Promise<Value> {
  const own = turns.get(work) ?? { active: 0, waiting: [] };
  turns.set(work, own);
  if (own.active >= mostAtOnce) await new Promise<void>((resolve) => own.waiting.push(resolve));
  else own.active++;
  try {
    return await body();
  } finally {
    const next = own.waiting.shift();
    if (next) next();
    else own.active--;
  }
}
