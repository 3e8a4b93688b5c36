import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { z } from "zod";
import { eachDatabase } from "../../../test/databases.ts";
import { assertHeld, insertRun, insertUser, type RunRows, runRows } from "../../../test/run-rows.ts";
import { LostRun } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import { silentLog } from "../../protocol/base/log.ts";
import type { Query, Tool } from "../../protocol/agents/tools.ts";
import type { Database } from "../../store/driver/database.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import { hashOfCall } from "../limits/limits.ts";
import type { CallItem } from "../log/call-items.ts";
import type { RunWork } from "../step/work.ts";
import { type ClaimOptions, claimWrite, rememberForWrite } from "./ledger.ts";

const call = { kind: "call", step: "1", index: 0, body: { name: "send", arguments: '{"to":"ann"}' } } as CallItem;
const toolOf = (more: object = {}): Tool =>
  defineTool({
    ...{ name: "send", description: "Sends.", input: z.object({}), effect: "write", timeoutMs: 60_000 },
    ...{ execute: () => "sent", ...more },
  } as Parameters<typeof defineTool>[0]);
const reconcile = async () => undefined;

eachDatabase((databases) => {
  let database: Database;
  let run: RunRows;
  let other: RunRows;

  before(async () => void (database = await databases.open()));

  beforeEach(async () => {
    await database.query("delete from threads");
    other = await insertRun(database, { userId: await insertUser(database) });
    run = await insertRun(database, { userId: await insertUser(database) });
  });

  /** As far as the ledger looks at it. */
  function workOf({ owner = run, signal = AbortSignal.timeout(10_000), query = database.query } = {}): RunWork {
    return { owner, signal, runtime: { database: { ...database, query }, log: silentLog } } as unknown as RunWork;
  }

  type Given = Partial<ClaimOptions> & Parameters<typeof workOf>[0];
  function claim({ owner, signal, query, ...options }: Given = {}) {
    const ask = () => Promise.reject(new Error("nobody is asked"));
    const work = workOf({ ...(owner && { owner }), ...(signal && { signal }), ...(query && { query }) });
    return claimWrite(work, { call, tool: toolOf(), ask, repeat: false, isOver: false, ...options });
  }

  /** A row of an earlier attempt, beside those of other calls; resolves to its key. */
  async function begun(status: string, { leftMs = -1000, result = null as unknown } = {}): Promise<string> {
    const key = newId();
    const insert = (
      of: RunRows,
      [step, index]: readonly [string, number],
      itsKey: string,
      [is, what]: [string, unknown],
    ) =>
      database.query(
        `insert into ledger (run_id, step, call_index, user_id, tool, status, key, arguments_hash, until, result)
         values ($1, $2, $3, $4, 'send', $5, $6, '', now() + $7 * interval '1 millisecond', $8::jsonb)`,
        [of.runId, step, index, of.userId, is, itsKey, leftMs, JSON.stringify(what)],
      );
    const strange: [string, unknown] = ["done", { content: "of another call" }];
    await insert(other, ["1", 0], newId(), ["executing", { remembered: "of another run" }]);
    await insert(run, ["0", 0], newId(), strange);
    await insert(run, ["1", 1], newId(), strange);
    await insert(run, ["1", 0], key, [status, result]);
    return key;
  }

  const rowOf = async (key: string) => {
    const row = (await runRows(database)).ledger.find((one) => one["key"] === key);
    return (
      row && { status: row["status"], result: row["result"], leftMs: Date.parse(String(row["until"])) - Date.now() }
    );
  };
  const isNear = (ms: number | undefined, expected: number) => ms !== undefined && Math.abs(ms - expected) < 10_000;

  test("claim: a write that nobody has begun is made under a key of its own", async () => {
    const claimed = await claim();
    assert.equal(claimed.how, "execute");
    const rows = (await runRows(database)).ledger;
    assert.equal(rows.length, 1);
    const { until, created_at: _, ...row } = rows[0]!;
    assert.deepEqual(claimed, { how: "execute", key: row["key"] });
    assert.deepEqual(row, {
      ...{ run_id: run.runId, step: "1", call_index: 0, user_id: run.userId, tool: "send", status: "executing" },
      ...{ key: row["key"], arguments_hash: hashOfCall(call), result: null, ended_at: null },
    });
    assert.ok(isNear(Date.parse(String(until)) - Date.now(), 60_000));
  });

  test("claim: a write that is over has its result", async () => {
    for (const [status, result, told] of [
      ["done", { content: "sent" }, { content: "sent" }],
      ["failed", { content: "no", isError: true }, { content: "no", isError: true }],
      ["done", null, { content: "done" }],
    ] as const) {
      await database.query("delete from ledger");
      await begun(status, { result });
      assert.deepEqual(await claim({ ask: reconcile }), { how: "settled", result: told });
    }
  });

  test("claim: what broke off is asked about, and what its tool says counts", async () => {
    const result = { content: "sent before" };
    const said = (what: unknown) => (async () => what) as unknown as ClaimOptions["ask"];
    const tries = [
      { ask: said(result), tool: toolOf(), how: "settled" },
      { ask: said("not-done"), tool: toolOf(), how: "execute" },
      { ask: said(undefined), tool: toolOf(), how: "unknown" },
      { ask: said(undefined), tool: toolOf({ idempotent: true }), how: "execute" },
      { ask: () => Promise.reject(new Error("away")), tool: toolOf(), how: "unknown" },
      { ask: () => new Promise<never>(() => {}), tool: toolOf({ timeoutMs: 20 }), how: "unknown" },
    ];
    for (const status of ["executing", "unknown"])
      for (const { ask, tool, how } of tries) {
        await database.query("delete from ledger");
        const key = await begun(status, { result: { remembered: { id: 7 } } });
        const alive = setInterval(() => {}, 1000);
        const asked: unknown[] = [];
        const claimed = await claim({
          tool,
          ask(...given) {
            asked.push(given.slice(0, 2));
            return ask(...given);
          },
        }).finally(() => clearInterval(alive));
        assert.deepEqual(asked, [[key, { remembered: { id: 7 } }]]);
        assert.deepEqual(
          claimed,
          {
            settled: { how, result },
            execute: { how, key, before: { remembered: { id: 7 } } },
            unknown: { how },
          }[how],
        );
        const row = await rowOf(key);
        assert.equal(row!.status, how === "execute" ? "executing" : status);
        if (how === "execute") assert.ok(isNear(row!.leftMs, tool.timeoutMs));
        const rows = (await runRows(database)).ledger.filter((one) => one["key"] !== key);
        assert.ok(
          rows.every(({ until }) => Date.parse(String(until)) < Date.now()),
          "those of others stay",
        );
      }
  });

  test("claim: what a person had repeated is repeated, unless a later attempt broke off", async () => {
    const key = await begun("unknown");
    assert.deepEqual(await claim({ repeat: true }), { how: "execute", key, before: { remembered: null } });
    await database.query("update ledger set until = now() where key = $1", [key]);
    const again = await claim({ repeat: true, ask: reconcile });
    assert.deepEqual(again, { how: "unknown" }, "it is executing now: nobody decided about this attempt");
  });

  test("claim: nobody asks or repeats before the time of the attempt before is over", async () => {
    const idempotent = toolOf({ idempotent: true });
    const waits = async (options: Given) => {
      await database.query("delete from ledger");
      await begun("executing", { leftMs: 3_600_000 });
      const alive = setInterval(() => {}, 1000);
      const [state] = await Promise.allSettled([
        claim({ ask: reconcile, ...options, signal: AbortSignal.timeout(100) }),
      ]).finally(() => clearInterval(alive));
      return state!.status === "rejected";
    };
    assert.ok(await waits({}));
    assert.ok(await waits({ isOver: true }), "it can't be done twice");
    assert.ok(await waits({ tool: idempotent }), "another process may be at it");
    assert.ok(await waits({ isOver: true, tool: toolOf({ idempotent: true, reconcile }) }), "it may tell later");
    assert.ok(!(await waits({ isOver: true, tool: idempotent })));
    await database.query("delete from ledger");
    const began = performance.now();
    await begun("executing", { leftMs: 300 });
    assert.deepEqual(await claim({ ask: reconcile }), { how: "unknown" });
    assert.ok(performance.now() - began >= 290);
  });

  test("claim: what became of a write meanwhile counts once its time is over", async () => {
    const key = await begun("executing", { leftMs: 500 });
    const query = (async (text: string, values: unknown[]) => {
      const rows = await database.query(text, values);
      // By whoever made the attempt before, in time.
      if (text.includes("from ledger"))
        await database.query(`update ledger set status = 'done', result = '{"content": "late"}' where key = $1`, [key]);
      return rows;
    }) as Query;
    assert.deepEqual(await claim({ query }), { how: "settled", result: { content: "late" } });
  });

  test("claim: a sandbox dies with its process, and what it printed is told", async () => {
    const tool = toolOf({ scope: "sandbox" });
    const text = "Interrupted: its process ended before it did, files may be half written.\n";
    const told = async (remembered: unknown) => {
      await database.query("delete from ledger");
      await begun("executing", { leftMs: 3_600_000, result: { remembered } });
      const claimed = await claim({ tool });
      assert.equal(claimed.how, "settled");
      return claimed.how === "settled" && claimed.result;
    };
    assert.deepEqual(await told(null), { content: `${text}None of its output was saved.`, isError: true });
    const printed = await told({ printed: "line 1" });
    assert.match(printed ? printed.content : "", /line 1/);
  });

  test("claim: whoever lost the run claims, renews and remembers nothing", async () => {
    const stale: readonly [RunRows, string][] = [
      [{ ...run, epoch: 1 }, "running"],
      [{ ...run, epoch: 3 }, "running"],
      [run, "waiting"],
    ];
    for (const [owner, status] of stale)
      for (const earlier of [undefined, "executing", "unknown", "done"]) {
        await database.query("delete from ledger");
        await database.query("update runs set status = $2 where id = $1", [run.runId, status]);
        if (earlier !== undefined) await begun(earlier);
        const before = await runRows(database);
        await assert.rejects(claim({ owner, repeat: true }), LostRun);
        await assert.rejects(rememberForWrite(workOf({ owner }), call, { id: 7 }), LostRun);
        assert.deepEqual(await runRows(database), before);
      }
    await database.query("update runs set status = 'running' where id = $1", [run.runId]);
    for (const change of ["runs set epoch = epoch + 1", "runs set status = 'waiting'", "ledger set status = 'done'"]) {
      await database.query("delete from ledger");
      await begun("executing");
      // Between the question and the renewal.
      const ask = async () => {
        await database.query(`update ${change}`);
        return "not-done" as const;
      };
      await assert.rejects(claim({ ask }), LostRun);
      await database.query("update runs set epoch = 2, status = 'running' where id = $1", [run.runId]);
    }
    await database.query("delete from ledger");
    await begun("executing");
    await assert.rejects(
      claim({ ask: () => Promise.reject(new LostRun("r")) }),
      LostRun,
      "told by the tool's own write",
    );
  });

  test("claim: whoever is stopped while a tool is asked does nothing more", async () => {
    const key = await begun("executing");
    const stopping = new AbortController();
    const ask = () => {
      stopping.abort(new Error("stopped"));
      return new Promise<never>(() => {});
    };
    await assert.rejects(claim({ ask, signal: stopping.signal }), { message: "stopped" });
    assert.ok((await rowOf(key))!.leftMs < 0);
  });

  test("claim: what took too long to be recorded is recorded anew before anything is sent", async (context) => {
    let clock = 5000;
    context.mock.method(performance, "now", () => clock);
    const stopping = new AbortController();
    /** Claims a write while some statements are slow; which were made. */
    async function claimSlowly(slow: readonly string[], { stopAt = 99 } = {}) {
      await database.query("delete from ledger");
      const left = [...slow];
      const texts: string[] = [];
      const query = (async (text: string, values: unknown[]) => {
        texts.push(/insert into ledger|update ledger|select/.exec(text.replace(/^with r as \(select/, ""))![0]);
        const rows = await database.query(text, values);
        if (left[0] === texts.at(-1)) clock += left.shift() ? 2000 : 0;
        if (texts.length === stopAt) stopping.abort(new Error("stopped"));
        return rows;
      }) as Query;
      const claimed = await claim({ query, signal: stopping.signal });
      const [row] = (await runRows(database)).ledger;
      assert.deepEqual(claimed, { how: "execute", key: row!["key"] });
      return texts;
    }
    assert.deepEqual(await claimSlowly([]), ["insert into ledger"]);
    const slow = ["insert into ledger", "update ledger", "update ledger"];
    assert.deepEqual(await claimSlowly(slow), ["insert into ledger", "select", "update ledger", ...slow.slice(1)]);
    await assert.rejects(claimSlowly(slow, { stopAt: 4 }), { message: "stopped" });
  });

  test("remember: what a tool must know later is kept with its call, while that is being done", async () => {
    const key = await begun("executing");
    const before = await runRows(database);
    await rememberForWrite(workOf(), call, { id: 7, text: "\0" });
    assert.deepEqual((await rowOf(key))!.result, { remembered: { id: 7, text: "\ufffd" } });
    const others = ({ ledger }: typeof before) => ledger.filter((row) => row["key"] !== key);
    assert.deepEqual(others(await runRows(database)), others(before));
    await database.query("update ledger set status = 'done' where key = $1", [key]);
    await assert.rejects(rememberForWrite(workOf(), call, { id: 8 }), LostRun);
  });

  if (databases.kind === "postgres")
    test("claim: nobody takes the run while a claim is being written", async () => {
      const isHeldBy = (work: (query: Query) => Promise<unknown>) =>
        database.transaction(async (query) => {
          await work(query);
          await assertHeld(database, run);
        });
      await isHeldBy((query) => claim({ query }));
      await isHeldBy((query) => rememberForWrite(workOf({ query }), call, { id: 7 }));
      await database.query("update ledger set status = 'unknown'");
      const renewing = (query: Query) =>
        ((text: string, values: unknown[]) =>
          (text.includes("update ledger") ? query : database.query)(text, values)) as Query;
      await isHeldBy((query) => claim({ query: renewing(query), repeat: true }));
    });
});
