import { defaultLimits } from "../../src/protocol/agents/agents.ts";
import type { Caller } from "../../src/protocol/base/callers.ts";
import { newId } from "../../src/protocol/base/ids.ts";
import type { RunDefinition, RunStatus } from "../../src/protocol/threads/runs.ts";
import { createKnownDefinitions } from "../../src/run/log/run-definitions.ts";
import { dueTitles, modelsOfLiveRuns } from "../../src/run/background/title-rows.ts";
import { insertRun } from "../../src/run/lifecycle/accept.ts";
import { itemsOfTree } from "../../src/run/lifecycle/locked-run.ts";
import { createThreads } from "../../src/run/threads/threads.ts";
import { createPlacedThreads } from "../../src/run/threads/placed-threads.ts";
import { searchThreads } from "../../src/run/threads/search-threads.ts";
import { readFromOutside } from "../../src/run/turn/untrusted.ts";
import { createAdminRuns } from "../../src/run/verbs/admin-runs.ts";
import { listQuestions, listRuns } from "../../src/run/views/list-runs.ts";
import { writesOf } from "../../src/run/views/writes-of.ts";
import type { Database } from "../../src/store/driver/database.ts";
import { createSearch, type SearchPassages } from "../../src/store/knowledge/search.ts";
import { readModelHealth, readUsage } from "../../src/store/metering/usage.ts";
import { listUsers } from "../../src/store/people/users.ts";
import { listDue } from "../../src/store/privacy/retention.ts";
import { checkInvariants } from "../../src/store/schema/invariants.ts";
import type { Filled } from "./fill.ts";

/** What a server asks its database for, by a function of its own. */
export type Look = {
  readonly name: string;
  /** By how much its work may be more with a hundred times the data. */
  readonly ratio: number;
  /** An aggregate: what it reads must be bounded, not in proportion to what it returns. */
  readonly most?: number;
  /** What it does is rolled back. */
  readonly writes?: boolean;
  readonly look: (database: Database, filled: Filled) => Promise<unknown>;
};

const signal = new AbortController().signal;

function callerOf({ userId }: Filled): Caller {
  return { userId, name: "person0", role: "user", permissions: [], via: "api-key" };
}

const threadLists = [
  { name: "threads, used last", page: { byUse: true } },
  { name: "threads, newest", page: {} },
  { name: "threads, archived, used last", page: { byUse: true, archived: true } },
  { name: "threads, archived, newest", page: { archived: true } },
].map(({ name, page }): Look => ({
  name,
  ratio: 1.5,
  look: async (database, filled) => {
    const threads = createThreads(database);
    const first = await threads.listThreads(callerOf(filled), { ...page, limit: 20 });
    await threads.listThreads(callerOf(filled), { ...page, limit: 20, before: first.at(-1)!.id });
  },
}));

const ownLists = (["made", "used", "pinned"] as const).map((sort): Look => ({
  name: `conversations and rooms, ${sort}`,
  ratio: 1.5,
  look: async (database, filled) => {
    const { listPlaced } = createPlacedThreads(database);
    const { next } = await listPlaced(callerOf(filled), { sort, limit: 20 });
    await listPlaced(callerOf(filled), { sort, limit: 20, before: next });
  },
}));

const searches = [
  { name: "thread search, common word", text: "w0", ratio: 2 },
  { name: "thread search, two common words", text: "w0 w1", ratio: 2 },
  { name: "thread search, rare word", text: "only30", ratio: 2 },
  { name: "thread search, no such word", text: "nowhere", ratio: 2 },
].map(({ name, text, ratio }): Look => ({
  name,
  ratio,
  most: 20_000,
  look: (database, filled) => searchThreads(database.query, callerOf(filled), { text }),
}));

const statuses: readonly RunStatus[] = ["queued", "running", "waiting", "done", "failed", "cancelled"];
const runLists = statuses.flatMap((status): Look[] => [
  {
    name: `runs, ${status}`,
    ratio: 1.5,
    look: (database, filled) => listRuns(database, callerOf(filled), { status, limit: 20 }),
  },
  {
    name: `everybody's runs, ${status}`,
    ratio: 1.5,
    look: (database) => createAdminRuns({ database } as never).list({ status, limit: 20 }),
  },
]);

const ofRuns: readonly Look[] = [
  { name: "runs", ratio: 1.5, look: (database, filled) => listRuns(database, callerOf(filled), { limit: 20 }) },
  {
    name: "runs of a thread",
    ratio: 1.5,
    look: (database, filled) => listRuns(database, callerOf(filled), { threadId: filled.threadId }),
  },
  {
    name: "everybody's runs, of one",
    ratio: 1.5,
    look: (database) => createAdminRuns({ database } as never).list({ user: "person0", limit: 20 }),
  },
  {
    name: "who wrote what a run has read",
    ratio: 1.5,
    look: ({ query }, { runId, userId }) => readFromOutside(query, { rootRun: runId, userId }),
  },
  { name: "what a decision locks", ratio: 1.5, look: ({ query }, { runId }) => itemsOfTree(query, runId) },
  { name: "what a run wrote", ratio: 1.5, look: ({ query }, { runId }) => writesOf(query, runId) },
  {
    name: "questions of a run",
    ratio: 1.5,
    look: (database, { userId, runId }) => listQuestions(database, { userId }, runId),
  },
  { name: "titles that are due", ratio: 1.5, look: ({ query }) => dueTitles(query) },
  { name: "models of live runs", ratio: 1.5, look: ({ query }) => modelsOfLiveRuns(query) },
  { name: "runs that are due", ratio: 1.5, look: ({ query }) => listDue(query, "runs", { days: 30, most: 100 }) },
  {
    name: "start of a run",
    ratio: 1.5,
    writes: true,
    look: ({ query }, filled) => startIn(query, filled),
  },
];

function startIn(query: Database["query"], filled: Filled): Promise<unknown> {
  const [runId, id] = [newId(), newId()];
  return insertRun(
    { definitions: createKnownDefinitions() },
    query,
    {
      ...{ runId, threadId: filled.threadId, caller: callerOf(filled) },
      items: [{ id, kind: "message", run: runId, body: { role: "user", content: "And now?" } }],
      definition: { agent: { id: "chat" }, limits: defaultLimits } as RunDefinition,
      ...{ idempotency: null, newThread: null },
    } as Parameters<typeof insertRun>[2],
    { behindPending: false, here: { node: "bench", perUser: 64 } },
  );
}

/** A server has one, which remembers what it has counted at the first question. */
const searchesOf = new WeakMap<Filled, SearchPassages>();
function searchOf(filled: Filled): SearchPassages {
  const search = searchesOf.get(filled) ?? createSearch();
  searchesOf.set(filled, search);
  return search;
}

const questions = [
  { name: "question of common words", text: "w0 w1 w2 w3" },
  { name: "question of common words and a rare one", text: "w0 w1 only10" },
].map(({ name, text }): Look => ({
  name,
  ratio: 3,
  most: 30_000,
  look: (database, filled) => {
    const { collectionId } = filled;
    const collections = [{ id: collectionId, textConfig: "simple", embeddingModel: "none" }];
    const asked = { collections, text, retrieval: "lexical" as const, weight: 0, limit: 10 };
    return searchOf(filled)(database, asked, signal);
  },
}));

const dayMs = 24 * 3_600_000;
function lastDays(count: number): { readonly from: Date; readonly to: Date } {
  const to = new Date();
  return { from: new Date(to.getTime() - count * dayMs), to };
}

const overviews: readonly Look[] = [
  ...(["day", "hour", "model", "agent", "user"] as const).map((by): Look => ({
    name: `usage by ${by}`,
    ratio: 2,
    ...(by !== "user" && { most: 20_000 }),
    look: ({ query }) => readUsage(query, { by, limit: 100, ...lastDays(30) }),
  })),
  {
    name: "own usage by day",
    ratio: 2,
    most: 20_000,
    look: ({ query }, { userId }) => readUsage(query, { by: "day", userId, ...lastDays(30) }),
  },
  { name: "health of models", ratio: 2, most: 20_000, look: ({ query }) => readModelHealth(query) },
  { name: "accounts", ratio: 2, look: ({ query }) => listUsers(query, { limit: 20 }) },
  { name: "doctor", ratio: 2, most: 50_000, look: ({ query }) => checkInvariants(query, { some: true }) },
];

export const looks: readonly Look[] = [
  ...threadLists,
  ...ownLists,
  ...searches,
  ...runLists,
  ...ofRuns,
  ...questions,
  ...overviews,
];
