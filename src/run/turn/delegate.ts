import { LostRun } from "../../protocol/base/errors.ts";
import { filesOf, mergedFiles } from "../../protocol/threads/files.ts";
import { newId } from "../../protocol/base/ids.ts";
import { textOf, type Item, type ItemOf, type NewItem } from "../../protocol/threads/items.ts";
import { isEnded } from "../../protocol/threads/runs.ts";
import type { Query, ToolResult } from "../../protocol/agents/tools.ts";
import { boundFrom, errorResult } from "../../tools/core/tool-result.ts";
import type { CallItem } from "../log/call-items.ts";
import { ensureChild, findChild, takeChild, type ChildRunState, type NewChildRun } from "../lifecycle/child-runs.ts";
import { defineRun } from "./define-run.ts";
import { delegationKey, delegationProblem, pathOf } from "./delegation-key.ts";
import { accountOf, noAnswer } from "../log/account.ts";
import { callKey, foldOf, isErased } from "../log/fold.ts";
import { itemsOfRun } from "../lifecycle/locked-run.ts";
import type { DelegateInput } from "./team.ts";
import { isUntrusted, sourcesIn } from "./untrusted.ts";
import type { RunWork } from "../step/work.ts";
import { basisIn } from "../step/run-basis.ts";

/** Characters of the conversation that are handed over. */
const maxHistoryCharacters = 100_000;

/** Whose changes a result tells. */
const maxFiles = 100;

/** Children of one run that work at the same time; the others wait for their turn. */
const maxAtOnce = 8;

/**
 * Does a call of the delegate tool: a child run with a context of its own, inside the process and the limits of this one. After
 * a crash the same call finds the same child, which goes on. `waits`: nothing more can be done until a person has decided.
 */
export async function delegate(
  work: RunWork,
  call: CallItem,
  { agent, task, final }: DelegateInput,
): Promise<ToolResult | "waits"> {
  const member = work.taken.definition.team?.find((one) => one.agent.id === agent)?.agent;
  if (!member) return errorResult(`Agent ${agent} not found, or you can't delegate to it.`);
  const errand = delegationKey(agent, task);
  const path = pathOf(work.taken.definition, basisIn(work).input);
  const objection = delegationProblem(errand, path);
  if (objection) return errorResult(objection);
  const { caller, definition } = work.taken;
  const within = { ...definition, path: [...path, errand] };
  const beginning: NewChildRun = {
    call: callKey(call),
    title: task.slice(0, 80),
    definition: defineRun(work.runtime, caller, { agent: member, options: {}, within }),
    caller,
    content: task,
    ...(final ? { history: saidIn(work.branch) } : {}),
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
async function bringToEnd(work: RunWork, first: ChildRunState, call: string): Promise<ToolResult | "waits"> {
  const { database, node } = work.runtime;
  for (let child = first; ;) {
    if (isEnded(child.status)) return outcomeOf(database.query, child);
    if (child.status === "waiting") return "waits";
    work.signal.throwIfAborted();
    const taken = await takeChild(database, node, { childId: child.id, root: work.root });
    if (taken) await work.workOnChild(work, taken);
    work.signal.throwIfAborted();
    const now = await findChild(database.query, work.owner, call);
    // Not taken, and yet it neither ended nor waits: then it is the root that is not ours.
    if (!now || (!taken && now.status !== "waiting" && !isEnded(now.status))) throw new LostRun(work.owner.runId);
    child = now;
  }
}

async function outcomeOf(query: Query, child: ChildRunState): Promise<ToolResult> {
  const items = await itemsOfRun(query, child.id);
  const files = mergedFiles(items.flatMap((item) => (item.kind === "result" ? filesOf(item.body.data) : [])));
  const model = foldOf(items).answer?.body.model;
  const data = {
    run: child.id,
    thread: child.threadId,
    status: child.status,
    ...(model === undefined ? {} : { model }),
    ...(files.length > 0 ? { files: files.slice(0, maxFiles) } : {}),
  };
  const mark = items.some(isUntrusted) ? { untrusted: true as const, from: boundFrom(items.flatMap(sourcesIn)) } : {};
  if (child.status === "done") return { content: answerIn(items), data, ...mark };
  const why = child.error ? `: ${child.error.message}` : "";
  const account = accountOf(items);
  const content = [`The delegated run ${child.status}${why}`, ...(account === undefined ? [] : [account])].join("\n\n");
  return { content, isError: true, data, ...mark };
}

/** Returns a conversation's messages, as far back as fits. */
function saidIn(branch: readonly Item[]): NewItem[] {
  let characters = 0;
  const said = branch.filter((item): item is ItemOf<"message"> => item.kind === "message" && !isErased(item));
  const start =
    said.findLastIndex(({ body }) => (characters += textOf(body.content).length) > maxHistoryCharacters) + 1;
  return said.slice(start).flatMap(({ body, author }) => {
    const { role, content } = body;
    const message = { id: newId(), kind: "message" as const, body: { role, content } };
    return content === "" ? [] : [author === null ? message : { ...message, author }];
  });
}

function answerIn(items: readonly Item[]): string {
  const { answer } = foldOf(items);
  const text = answer ? textOf(answer.body.content) : "";
  if (text.trim() !== "" && text !== noAnswer) return text;
  return accountOf(items) ?? "It returned nothing and did nothing.";
}

type DelegationSlots = { active: number; readonly waiting: (() => void)[] };
const turns = new WeakMap<RunWork, DelegationSlots>();

/** Takes a turn among the run's own children only: a child that waits for its children must not block them. */
async function turnOf<Value>(work: RunWork, body: () => Promise<Value>): Promise<Value> {
  const own = turns.get(work) ?? { active: 0, waiting: [] };
  turns.set(work, own);
  if (own.active >= maxAtOnce) await new Promise<void>((resolve) => own.waiting.push(resolve));
  else own.active++;
  try {
    return await body();
  } finally {
    const next = own.waiting.shift();
    if (next) next();
    else own.active--;
  }
}
