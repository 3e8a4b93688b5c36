import type { RunsService } from "./services.ts";
import type { PromptRegistry } from "../agents/load-prompts.ts";
import type { AgentRegistry, Limits } from "../protocol/agents/agents.ts";
import type { ApprovalPolicy } from "../protocol/agents/approval.ts";
import { messageOf } from "../protocol/base/errors.ts";
import type { Log } from "../protocol/base/log.ts";
import { newId } from "../protocol/base/ids.ts";
import type { ModelRegistry } from "../protocol/agents/models.ts";
import { defaultStrategySettings, type StrategySettings } from "../protocol/agents/strategies.ts";
import type { ToolRegistry } from "../protocol/agents/tools.ts";
import type { Database } from "../store/driver/database.ts";
import { createAdminRuns } from "./verbs/admin-runs.ts";
import { askAgain } from "./verbs/ask-again.ts";
import { createBranches } from "./threads/branches.ts";
import { addClientResults } from "./verbs/bring-results.ts";
import { beginChapter } from "./threads/chapters.ts";
import { cancelRun } from "./lifecycle/cancel.ts";
import { continueRun, decide } from "./verbs/decide.ts";
import { channel, createDeltaWriter, type Notice, parseNotice, shortId } from "./log/deltas.ts";
import { editMessage } from "./threads/edit-message.ts";
import { createKeptConversations } from "./threads/kept-conversations.ts";
import { createQueue } from "./engine/queue.ts";
import { createTitles, type TitleOptions } from "./background/conversation-titles.ts";
import { createTimetable } from "./engine/timetable.ts";
import { createKnownDefinitions } from "./log/run-definitions.ts";
import { createPersonErasure } from "./threads/erase-person.ts";
import { executeClaimed, executeTaken } from "./turn/execute.ts";
import { createFeeds } from "./log/follow.ts";
import type { Feeds } from "./log/feeds.ts";
import { forkThread } from "./threads/fork.ts";
import { joinNodes, leaveNodes } from "./engine/nodes.ts";
import { beginHeartbeat, type Heartbeat } from "./background/heartbeat.ts";
import { listGrants, removeGrant } from "./verbs/grants.ts";
import { createMirror, type Mirror, type MirrorOptions } from "./threads/mirror-files.ts";
import { findThread, startRun } from "./verbs/start-run.ts";
import type { Approvals, Runs, Threads } from "./runs.ts";
import {
  defaultOutages,
  type ActiveRun,
  type OutagePolicy,
  type RetentionTimes,
  type Runtime,
} from "./contract/runtime.ts";
import { createRunRetention } from "./threads/remove-threads.ts";
import { createSchedules } from "./background/schedules.ts";
import { beginSweeping } from "./background/sweep.ts";
import { createSessions } from "./threads/sessions.ts";
import { createPlacedThreads } from "./threads/placed-threads.ts";
import { searchThreads } from "./threads/search-threads.ts";
import { createThreadSettings } from "./threads/thread-settings.ts";
import { closeThread } from "./threads/temporary-threads.ts";
import { createThreads } from "./threads/threads.ts";
import type { Caller } from "../protocol/base/callers.ts";
import { createRunChanges, type RunChanges } from "./views/run-changes.ts";
import { summariesOfRuns, readRunDetails } from "./views/run-details.ts";
import { getRun, listPending, listQuestions, listRuns, requireOwnRun } from "./views/list-runs.ts";

import { forkRun } from "./verbs/fork-run.ts";
import { resumeRun } from "./verbs/resume-run.ts";
import { readItemOfRun } from "./views/run-trace.ts";
import { readStepPrompt } from "./views/step-prompt.ts";
import { steerRun } from "./verbs/steer.ts";
import { call, directCall } from "./turn/direct-call.ts";
import { callTool } from "./verbs/start-tool-call.ts";
import type { Strategy } from "./contract/turn.ts";

export type RunsOptions = {
  readonly database: Database;
  readonly models: ModelRegistry;
  readonly agents: AgentRegistry;
  readonly tools: ToolRegistry;
  readonly strategies: Readonly<Record<string, Strategy>>;
  readonly limits: Limits;
  readonly strategySettings?: StrategySettings;
  readonly prompts: PromptRegistry;
  readonly secret: string;
  readonly concurrency: { readonly perUser: number; readonly perNode: number };
  readonly retention: RetentionTimes;
  readonly outages?: Partial<OutagePolicy> | undefined;
  readonly approval?: ApprovalPolicy;
  /** Absent: there is none. */
  readonly sandbox?: Runtime["sandbox"] | undefined;
  readonly deferAbove?: number;
  readonly costOf?: Runtime["costOf"];
  readonly hooksFor?: Runtime["hooksFor"];
  readonly imageUrl?: Runtime["imageUrl"] | undefined;
  readonly sourceText?: Runtime["sourceText"];
  readonly removeUpload?: Runtime["removeUpload"];
  readonly log: Log;
  /** This process's name among the nodes of the database; a new one when absent. */
  readonly node?: string;
  /** Where a file of each session is kept for people to read; absent: nowhere. */
  readonly mirror?: Pick<MirrorOptions, "folder" | "namedFor"> | undefined;
  /** Called when a run has ended by this process; must not throw or wait. */
  readonly onRunEnd?: ((runId: string) => void) | undefined;
  /** How conversations are named that people begin; absent: by their first words. */
  readonly titles?: TitleOptions | undefined;
  /** Takes runs of others too; false: only accepts, lists and decides. */
  readonly runsJobs?: boolean;
};

export async function createRuns(options: RunsOptions): Promise<RunsService> {
  const { database, models, agents, tools, strategies, limits, retention, log, node = newId() } = options;
  const active = new Map<string, ActiveRun>();
  const timetable = await createTimetable({ database, log });
  const mirror = options.mirror && createMirror({ ...options.mirror, query: database.listing.query, log });
  const changes = createRunChanges({ query: database.listing.query, log });
  const feeds = withListeners(createFeeds({ database, log, isLocal: (runId) => active.has(runId) }), {
    mirror,
    onRunEnd(runId, threadId) {
      options.onRunEnd?.(runId);
      titles.runEnded(threadId);
    },
    changes,
  });
  const deltas = createDeltaWriter({ database, node, log, intervalMs: database.kind === "pglite" ? 1000 : 100 });
  const queue = createQueue({ database, node, ...options.concurrency, log, announce: deltas.tellQueued });
  const runtime: Runtime = {
    database,
    models,
    agents,
    tools,
    strategies: { ...strategies, [directCall]: call },
    strategySettings: options.strategySettings ?? defaultStrategySettings,
    prompts: options.prompts,
    secret: options.secret,
    queue,
    timetable,
    definitions: createKnownDefinitions(),
    workOn: (taken) => executeTaken(runtime, taken),
    feeds,
    deltas,
    log,
    limits,
    node,
    active,
    retention,
    outages: { ...defaultOutages, ...options.outages },
    approval: options.approval ?? {},
    sandbox: options.sandbox ?? (() => Promise.resolve({ driver: "none", grade: "none" })),
    deferAbove: options.deferAbove ?? Infinity,
    costOf: options.costOf ?? (() => undefined),
    hooksFor: options.hooksFor ?? (() => []),
    imageUrl: options.imageUrl ?? (() => Promise.resolve(undefined)),
    sourceText: options.sourceText ?? (() => Promise.resolve(undefined)),
    removeUpload: options.removeUpload,
  };

  const titles = createTitles(runtime, {
    ...(options.titles ?? { by: "first-words" }),
    onTitled: (threadId) => mirror?.changed(threadId),
  });
  const runsJobs = options.runsJobs ?? true;
  let unlisten: (() => Promise<void>) | undefined;
  let heartbeat: Heartbeat | undefined;
  let sweeping: ReturnType<typeof beginSweeping> | undefined;
  let stopping = false;
  const schedules = createSchedules(runtime);

  // Children that a request began have no place of their own.
  const isBusy = () => queue.busy() || active.size > 0;

  const { placeOf, definitionOf, ...mine } = createThreads(database, options.titles?.by);
  const threads: Threads = {
    ...mine,
    ...createBranches(runtime),
    ...createKeptConversations(runtime, mirror),
    ...createSessions(database.query),
    ...createThreadSettings(runtime),
    ...createPlacedThreads(database),
    async createThread(caller, input) {
      const thread = await mine.createThread(caller, input);
      if (input.titleFrom !== undefined) titles.expect(thread.id);
      return thread;
    },
    async pending(caller, threadId) {
      const { id } = await mine.getThread(caller, threadId);
      return listPending(database, caller, id);
    },
    beginChapter: (chapter) => beginChapter(runtime, chapter),
    async renameThread(caller, threadId, title) {
      const renamed = await mine.renameThread(caller, threadId, title);
      mirror?.changed(renamed.id);
      return renamed;
    },
    async closeThread(caller, threadId) {
      await closeThread(runtime, caller, await mine.getThread(caller, threadId));
    },
    async deleteThread(caller, threadId) {
      const { id, ...thread } = await mine.getThread(caller, threadId);
      if (thread.temporary) return closeThread(runtime, caller, { id, temporary: true });
      const removeFile = await mirror?.leaving(id);
      await mine.deleteThread(caller, id);
      await removeFile?.();
    },
    async editMessage(caller, edit) {
      const edited = await editMessage(runtime, caller, edit);
      mirror?.changed(edited.thread.id);
      return edited;
    },
    async forkThread(caller, threadId, at = {}) {
      const copy = await forkThread(database.listing, caller, threadId, at);
      mirror?.changed(copy.id);
      return copy;
    },
    searchThreads: (caller, search) => searchThreads(database.listing.query, caller, search),
    findThread: (caller, sessionKey) => findThread(runtime, caller, { sessionKey }),
  };
  const approvals: Approvals = {
    decide: (caller, runId, answer) => decide(runtime, caller, { runId, ...answer }),
    grants: (caller) => listGrants(database, caller),
    removeGrant: (caller, grantId) => removeGrant(database, caller, grantId),
    questions: (caller, runId) => listQuestions(database.listing, caller, runId),
  };
  const runs: Runs = {
    start: (caller, input) => startRun(runtime, caller, input),
    askAgain: (caller, input) => askAgain(runtime, caller, input),
    bringResults: (caller, results, more) => addClientResults(runtime, caller, { results, ...more }),
    get: (caller, runId) => getRun(database, caller, runId),
    list: (caller, filter) => listRuns(database.listing, caller, filter),
    about: (runIds) => summariesOfRuns(database.listing.query, runIds),
    async details(caller, asked) {
      await requireOwnRun(database, caller, asked.runId);
      return readRunDetails(runtime, { ...asked, ...seenBy(caller) });
    },
    async item(caller, runId, itemId) {
      await requireOwnRun(database, caller, runId);
      return readItemOfRun(database.query, { runId, itemId, ...seenBy(caller) });
    },
    async prompt(caller, asked) {
      await requireOwnRun(database, caller, asked.runId);
      return readStepPrompt(runtime, { ...asked, ...seenBy(caller) });
    },
    async resume(caller, runId, input) {
      await requireOwnRun(database, caller, runId);
      return resumeRun(runtime, caller, { runId, ...input });
    },
    fork: (caller, runId, input) => forkRun(runtime, caller, runId, input),
    async cancel(caller, runId) {
      await requireOwnRun(database, caller, runId);
      return cancelRun(runtime, caller, runId);
    },
    continue: (caller, runId) => continueRun(runtime, caller, runId),
    steer: (caller, runId, message) => steerRun(runtime, caller, { runId, message }),
    callTool: (caller, input) => callTool(runtime, caller, input),
    follow: feeds.follow,
    followChanges: changes.follow,
    placeOf,
    definitionOf,
  };
  let drained: Promise<void> | undefined;
  const drain = async (graceMs: number, isAnswering: () => boolean) => {
    stopping = true;
    queue.pause();
    await untilIdle(() => isBusy() || isAnswering(), graceMs);
    // Again and again: a run that is only just being taken can't hear it yet.
    await untilIdle(isBusy, 2000, () => {
      for (const run of active.values()) run.stop("hand-over");
    });
  };
  const service: RunsService = {
    runs,
    threads,
    approvals,
    schedules,
    adminRuns: createAdminRuns(runtime),
    old: createRunRetention({ database: database.listing }, mirror),
    erasure: createPersonErasure(runtime, mirror),
    active: () => active.size,
    unready() {
      if (stopping) return { code: "stopping", message: "This server is stopping; ask again when it is back." };
      if (heartbeat?.isLost())
        return { code: "database_silent", message: "The database does not answer now; ask again in a few seconds." };
      return undefined;
    },
    drain: (graceMs, isAnswering = () => false) => (drained ??= drain(graceMs, isAnswering)),
    async stop(graceMs) {
      await service.drain(graceMs);
      await heartbeat?.stop();
      sweeping?.stop();
      await titles.close();
      feeds.close();
      changes.close();
      try {
        await deltas.close();
        await mirror?.close();
        await unlisten?.();
      } finally {
        if (runsJobs)
          await leaveNodes(runtime).catch((error: unknown) =>
            log.warn({ error: messageOf(error) }, "could not say that this node is gone"),
          );
        await timetable.stop();
      }
    },
  };
  try {
    if (database.kind !== "pglite")
      unlisten = await database.listen(channel, (payload) => hear(runtime, changes, payload));
    if (runsJobs) {
      await joinNodes(runtime);
      heartbeat = beginHeartbeat(runtime);
      sweeping = beginSweeping(runtime, { also: [titles.sweep] });
      await titles.sweep();
      queue.begin((claimed) => executeClaimed(runtime, claimed), heartbeat.isLost);
      await schedules.begin();
    }
  } catch (error) {
    await service.stop(0).catch((failed: unknown) => log.warn({ error: messageOf(failed) }, "could not stop runs"));
    throw error;
  }
  return service;
}

type RunListeners = {
  readonly mirror: Mirror | undefined;
  readonly onRunEnd: (runId: string, threadId: string) => void;
  readonly changes: RunChanges;
};

/** Also writes what this process commits to the sessions' files, and notifies listeners of runs' ends. */
function withListeners(feeds: Feeds, { mirror, changes, onRunEnd }: RunListeners): Feeds {
  return {
    ...feeds,
    publish(threadId, items) {
      feeds.publish(threadId, items);
      for (const { kind, body, runId } of items)
        if (kind === "state" && "type" in body && body.type === "run-end" && runId !== null) onRunEnd(runId, threadId);
      mirror?.changed(threadId, items);
      changes.note(threadId, items);
    },
  };
}

/** An empty payload: the connection was lost, so anything may have been missed. */
function hear(runtime: Runtime, changes: RunChanges, payload: string): void {
  const notice: Notice | undefined =
    payload === "" ? { node: "", threads: "all", queued: true, live: [] } : parseNotice(payload);
  if (!notice || notice.node === shortId(runtime.node)) return;
  runtime.feeds.changed(notice.threads);
  changes.noteElsewhere(notice.threads);
  runtime.feeds.grown(notice.live);
  if (notice.queued) runtime.queue.look();
  for (const runId of notice.stop ?? []) runtime.active.get(runId)?.stop("cancelled");
}

async function untilIdle(isBusy: () => boolean, withinMs: number, meanwhile = () => {}): Promise<void> {
  const end = performance.now() + withinMs;
  while (isBusy() && performance.now() < end) {
    meanwhile();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Whose runs a person may look into: admins everybody's. */
function seenBy({ role, userId }: Caller): { readonly userId?: string } {
  return role === "admin" ? {} : { userId };
}
