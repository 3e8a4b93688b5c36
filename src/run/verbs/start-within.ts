import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Caller } from "../../protocol/base/callers.ts";
import { Conflict, messageOf } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import { filesIn } from "../log/attached-files.ts";
import { textOf } from "../../protocol/threads/items.ts";
import { isEnded, type RunDefinition } from "../../protocol/threads/runs.ts";
import { requestCallId, ensureChild, findAbandonedRequests, takeChild } from "../lifecycle/child-runs.ts";
import { defineRun } from "../turn/define-run.ts";
import { delegationKey, delegationProblem, pathOf } from "../turn/delegation-key.ts";
import type { RunOwner } from "../log/append.ts";
import { executeChild } from "../turn/execute.ts";
import { readOrigin, type RequestOrigin } from "../step/request-origin.ts";
import type { RunStart, StartInput } from "../runs.ts";
import type { Runtime } from "../contract/runtime.ts";
import { definitionSql } from "../log/run-definitions.ts";

/** A fault of the database may pass; if not, the root's next try finds the child. */
const maxTries = 5;
const againAfterMs = 1000;
/** In one round. */
const maxResumed = 50;

/** The run that a request comes from, with its root. */
type ParentRun = RequestOrigin & {
  readonly threadId: string;
  readonly definition: RunDefinition;
  readonly root: { readonly runId: string; readonly epoch: number; readonly definition: RunDefinition };
};

/**
 * Starts a run that a run at work asks our own server for: its child, in whichever process the request came in, within its
 * root's limits and without a slot of its own, so that nothing waits for itself. The same request of the same step is the
 * same child. Undefined: the request comes from no run of this caller. Throws Conflict if that run has moved on.
 */
export async function startNestedRun(
  runtime: Runtime,
  caller: Caller,
  input: StartInput,
): Promise<RunStart | undefined> {
  const origin = input.within === undefined ? undefined : readOrigin(runtime.secret, input.within);
  const parent = origin && (await findParent(runtime, caller, origin));
  if (!parent) return undefined;
  if (input.threadId !== undefined || input.sessionKey !== undefined)
    throw new Conflict("A request from within a run can't continue a thread; omit the thread ID.", {
      code: "thread_within_run",
    });
  const agent = runtime.agents.get(input.agent);
  const task = textOf(input.message.content);
  const errand = delegationKey(agent.id, task);
  const path = pathOf(parent.definition, "");
  const objection = delegationProblem(errand, path);
  if (objection) throw new Conflict(objection, { code: "delegation_refused" });
  const system = input.system ? [{ role: "system", content: input.system } as const] : [];
  const { content, files = [] } = input.message;
  const asked = JSON.stringify([
    input.agent,
    input.history,
    input.system,
    input.before,
    input.done,
    content,
    input.options,
    ...files.map(({ id }) => id),
  ]);
  const { limits, temporary } = parent.root.definition;
  const child = await ensureChild(runtime.database.query, parent, {
    call: requestCallId(parent.step, createHash("sha256").update(asked).digest("base64url")),
    title: task.slice(0, 80),
    definition: defineRun(runtime, caller, {
      agent,
      options: input.options ?? {},
      within: {
        limits,
        path: [...path, errand],
        // Whoever asks is answered in any case, and asks again.
        onOutage: "fail",
        held: true,
        ...(temporary !== undefined && { temporary }),
      },
    }),
    caller,
    content: input.message.content,
    ...filesIn(input.message),
    ...(input.done && { done: input.done }),
    history: [
      ...(input.history ?? []),
      ...(input.before ?? []),
      ...system.map((body) => ({ id: newId(), kind: "message" as const, author: caller.name, body })),
    ],
  });
  if (!child) throw movedOn(parent.runId);
  if (!isEnded(child.status) && child.status !== "waiting" && !runtime.active.has(child.id))
    void workInBackground(runtime, child.id, parent.root);
  return {
    runId: child.id,
    threadId: child.threadId,
    cursor: { seq: input.history?.length ?? 0, live: [] },
    pending: false,
    replayed: child.status !== "queued",
  };
}

async function findParent(
  { database }: Runtime,
  caller: Caller,
  origin: RequestOrigin,
): Promise<ParentRun | undefined> {
  const [row] = await database.query<{
    thread_id: string;
    definition: RunDefinition;
    live: boolean;
    root: string;
    root_epoch: number;
    root_definition: RunDefinition;
  }>(
    `select p.thread_id, ${definitionSql("p")} as definition, p.epoch = $3 and p.status = 'running' and r.status = 'running' as live,
       r.id as root, r.epoch as root_epoch, ${definitionSql("r")} as root_definition
     from runs p join runs r on r.id = p.root_run where p.id = $1 and p.user_id = $2`,
    [origin.runId, caller.userId, origin.epoch],
  );
  if (!row) return undefined;
  if (!row.live) throw movedOn(origin.runId);
  const root = { runId: row.root, epoch: row.root_epoch, definition: row.root_definition };
  return { ...origin, threadId: row.thread_id, definition: row.definition, root };
}

/** Goes on with what was begun so and waited, or was set aside: whoever asked has its answer, so nobody else would. */
export async function resumeRequests(runtime: Runtime): Promise<void> {
  for (const { id, root, root_epoch } of await findAbandonedRequests(runtime.database.query, maxResumed))
    if (!runtime.active.has(id)) void workInBackground(runtime, id, { runId: root, epoch: root_epoch });
}

/** Until it ends, waits, or belongs to somebody else; whoever asked follows its log. Never throws. */
async function workInBackground(
  runtime: Runtime,
  childId: string,
  root: Pick<RunOwner, "runId" | "epoch">,
): Promise<void> {
  const { database, node, active, log } = runtime;
  // In the process of the root it stops with it; elsewhere the heartbeat tells.
  const signal = active.get(root.runId)?.signal ?? new AbortController().signal;
  for (let tries = 0; tries < maxTries; tries++) {
    try {
      const taken = await takeChild(database, node, { childId, root });
      if (taken) await executeChild(runtime, taken, { root, signal, progressed: async () => {} });
      return;
    } catch (error) {
      log.warn({ runId: childId, error: messageOf(error) }, "a run within a run was left by a fault of the database");
      await sleep(againAfterMs, undefined, { ref: false });
    }
  }
}

function movedOn(runId: string): Conflict {
  return new Conflict(`Run ${runId} has continued without this request.`, { code: "stale_parent" });
}
