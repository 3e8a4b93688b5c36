import { fileURLToPath } from "node:url";
import { defaultLimits } from "../../src/protocol/agents/agents.ts";
import type { Caller } from "../../src/protocol/base/callers.ts";
import type { Query } from "../../src/protocol/agents/tools.ts";
import { usageGroups } from "../../src/protocol/people/overview.ts";
import { retentionNames } from "../../src/protocol/people/retention.ts";
import { newId } from "../../src/protocol/base/ids.ts";
import type { RunDefinition } from "../../src/protocol/threads/runs.ts";
import { insertRun } from "../../src/run/lifecycle/accept.ts";
import { createKnownDefinitions } from "../../src/run/log/run-definitions.ts";
import { extendLimit } from "../../src/run/limits/limits.ts";
import type { Runtime } from "../../src/run/contract/runtime.ts";
import { createAdminRuns } from "../../src/run/verbs/admin-runs.ts";
import { listRuns } from "../../src/run/views/list-runs.ts";
import { removeThreads } from "../../src/run/threads/remove-threads.ts";
import { createPlacedThreads } from "../../src/run/threads/placed-threads.ts";
import { append } from "../../src/run/log/append.ts";
import type { Database } from "../../src/store/driver/database.ts";
import { createSearch } from "../../src/store/knowledge/search.ts";
import { rolledKey } from "../../src/store/metering/usage-rollups.ts";
import { readUsage } from "../../src/store/metering/usage.ts";
import { movedTables } from "../../src/store/moving/moved-tables.ts";
import { pagesOf } from "../../src/store/moving/table-lines.ts";
import { eraseAccount } from "../../src/store/privacy/erasures.ts";
import { countDue } from "../../src/store/privacy/retention.ts";
import { pagesOfPerson, personalRows } from "../../src/store/privacy/personal-rows.ts";
import { setMeta } from "../../src/store/schema/meta.ts";
import { checkInvariants } from "../../src/store/schema/invariants.ts";

const id = newId();
const owner = { runId: id, epoch: 1, threadId: id };
const item = { id, kind: "message", body: { role: "user", content: "" } } as const;
const settles = { reservation: "s", tokens: 1, cost: 0 };
const spent = { id, tokens: 1, cost: 0, requests: 1, isUnpriced: false } as const;
const modelCall = {
  ...{
    id,
    userId: null,
    runId: id,
    step: null,
    attempt: null,
    asked: "",
    model: "",
    provider: "",
    startedAt: new Date(),
  },
  ...{ firstPartMs: null, totalMs: 0, inputTokens: null, outputTokens: null, finish: null, error: null },
};
const entry = { userId: id, tool: "", key: "", argumentsHash: "" };
const ledger = { step: "s", index: 0, status: "done", result: null } as const;
const beginning = {
  ...{ runId: id, threadId: id, caller: { userId: id } as never, items: [{ ...item, run: id }] },
  definition: { agent: { id: "" }, limits: {} } as RunDefinition,
  ...{ idempotency: null, newThread: null },
};
const unknownDefinitions = { definitions: createKnownDefinitions() };
const newThread = { title: "", hidden: true, sessionKey: null, days: 1 };
const collections = [{ id, textConfig: "simple", embedding: new Float32Array([1, 2]), embeddingModel: "m" }];
const question = { collections, text: "word", weight: 0.5, limit: 5, filters: { pageFrom: 1, kinds: ["pdf"] } };

/**
 * Calls that send the statements whose text can't be read from the source, in each of their shapes. They run on an empty database, and it
 * doesn't matter whether they succeed.
 */
const samples: readonly ((database: Database) => Promise<unknown>)[] = [
  ({ query }) => append(query, owner, []),
  ({ query }) =>
    append(query, owner, [item], { progress: true, settles, spent, ledger, deltasOf: "s", modelCalls: [modelCall] }),
  ({ query }) =>
    append(query, owner, [], { end: { status: "done" }, deliveries: [{ id, hook: "", body: {} }], expectedSteered: 1 }),
  ({ query }) =>
    append(query, owner, [], { wait: { reason: "limit", maxMs: 1 }, ledger: { ...ledger, status: "withdrawn" } }),
  ({ query }) => append(query, owner, [], { uncounted: { ms: 1 }, settles, ledger: { ...ledger, entry } }),
  ({ query }) => insertRun(unknownDefinitions, query, beginning, { behindPending: false }),
  ({ query }) =>
    insertRun(unknownDefinitions, query, { ...beginning, ownerId: id, after: null }, { behindPending: true }),
  ({ query }) =>
    insertRun(
      unknownDefinitions,
      query,
      { ...beginning, newThread, idempotency: { key: "", bodyHash: "" }, secrets: {} },
      { behindPending: false, here: { node: "", perUser: 1 } },
    ),
  ...(["hybrid", "lexical", "vector"] as const).map(
    (retrieval) => (database: Database) =>
      createSearch()(database, { ...question, retrieval }, new AbortController().signal),
  ),
  ...movedTables.map(
    (table) =>
      ({ query }: Database) =>
        pagesOf(query, table).next(),
  ),
  ...personalRows.map(
    (rows) =>
      ({ query }: Database) =>
        pagesOfPerson(query, id, rows).next(),
  ),
  ...retentionNames.map(
    (kind) =>
      ({ query }: Database) =>
        countDue(query, kind, 1),
  ),
  (database) => removeThreads({ database }, undefined, { ids: [id], still: { sql: "true", values: [] } }),
  ...(["made", "used", "pinned"] as const).flatMap((sort) =>
    (["conversation", "room", "all"] as const).flatMap((kind) =>
      [{}, { folderId: id }, { archived: true }].map(
        (more) => (database: Database) =>
          createPlacedThreads(database).listPlaced({ userId: id } as Caller, { sort, kind, ...more }),
      ),
    ),
  ),
  (database) => eraseAccount(database, { id, userId: id, name: "" }),
  ({ query }) => checkInvariants(query),
  async ({ query }) => {
    const [from, to] = [new Date(Date.now() - 90 * 24 * 3_600_000), new Date()];
    await setMeta(query, rolledKey, to.toISOString());
    for (const by of usageGroups) await readUsage(query, { by, from, to });
    await readUsage(query, { by: "model", from, to, userId: id, model: "m" });
    await query("delete from meta where key = $1", [rolledKey]);
    for (const by of usageGroups) await readUsage(query, { by, from, to });
  },
  ({ query }) => checkInvariants(query, { some: true }),
  ...[undefined, "failed" as const].flatMap((status) => [
    (database: Database) => listRuns(database, { userId: id } as Caller, { ...(status && { status }) }),
    ({ listing }: Database) =>
      createAdminRuns({ database: { listing } } as Runtime).list({ ...(status && { status, user: "a" }) }),
  ]),
  ...["steps", "tool_calls", "writes", "tokens", "cost", "deadline"].map(
    (limit) => (database: Database) =>
      extendLimit(database.query, { rootRun: id, userId: id, limits: defaultLimits }, { limit }),
  ),
];

/** Runs the samples and returns the texts they send, by the place of the call that sends them. */
export async function sampleTexts(database: Database): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const texts = new Map<string, Set<string>>();
  const noted =
    (query: Query): Query =>
    (text, values) => {
      const [, url] = /(file:.*:\d+:\d+)\)?$/.exec(new Error().stack!.split("\n")[2]!) ?? [];
      const place = url === undefined ? "" : fileURLToPath(url);
      texts.set(place, (texts.get(place) ?? new Set()).add(text));
      return query(text, values);
    };
  const recorded: Database = {
    ...database,
    query: noted(database.query),
    transaction: (body, options) => database.transaction((query) => body(noted(query)), options),
    get listing() {
      return recorded;
    },
  };
  for (const sample of samples) await sample(recorded).catch(() => {});
  return texts;
}
