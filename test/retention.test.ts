import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { before, after, test } from "node:test";
import { createUploads, type Uploads } from "../src/knowledge/uploads/uploads.ts";
import { createRetention, type RetentionDeps, retentionFindings } from "../src/people/retention.ts";
import { removeForgotten } from "../src/app/workspaces.ts";
import { newId } from "../src/protocol/base/ids.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { createWorkspaces, type Workspaces } from "../src/sandbox/workspace/workspaces.ts";
import { createAuditLog } from "../src/store/metering/audit-log.ts";
import type { Database } from "../src/store/driver/database.ts";
import { checkInvariants } from "../src/store/schema/invariants.ts";
import { createShares } from "../src/store/shares.ts";
import { createUser } from "../src/store/people/users.ts";
import { anyDatabase } from "./databases.ts";
import { temporaryFolder } from "./pglite.ts";
import { until } from "./run-suite.ts";
import { startTestRuns, type TestRuns } from "./runs.ts";

/** An id as it was made so many days ago. */
function idOf(days: number): string {
  const time = (Date.now() - days * 24 * 3_600_000).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}${newId().slice(13)}`;
}

anyDatabase((databases) => {
  let database: Database;
  let service: TestRuns;
  let uploads: Uploads;
  let workspaces: Workspaces;
  let parts: RetentionDeps;
  const folders = { scratch: "", uploads: "", sessions: "" };

  before(async () => {
    database = await databases.open();
    for (const name of ["scratch", "uploads", "sessions"] as const) folders[name] = temporaryFolder(name);
    service = await startTestRuns({
      database,
      script: ({ messages }) =>
        JSON.stringify(messages.at(-1)).includes("hang") ? [{ hang: true }] : [{ text: "yes" }],
      mirror: { folder: folders.sessions },
    });
    uploads = createUploads({
      database,
      folder: folders.uploads,
      fileBytes: 1000,
      limits: { files: 100, bytes: 10_000 },
      log: silentLog,
    });
    workspaces = createWorkspaces({ folder: folders.scratch });
    parts = { database, old: service.old, uploads, workspaces, configured: {}, log: silentLog, withFiles: true };
  });
  after(() => service.stop(0));

  const age = (table: string, column: string, id: string, days: number) =>
    database.query(`update ${table} set ${column} = now() - $2 * interval '1 day' where id = $1`, [id, days]);
  const ageThread = async (id: string, days: number) => {
    for (const column of ["updated_at", "used_at"]) await age("threads", column, id, days);
  };
  const exists = async (table: string, id: string) =>
    (await database.query(`select 1 from ${table} where id = $1`, [id])).length > 0;
  const bring = () =>
    uploads.receive({ ...service.caller }, { name: "a.txt", bytes: Readable.from([Buffer.from("a")]) });

  test("what is old goes, kind by kind, with its files; what is at work, young or kept for ever stays", async () => {
    const { runs, threads, caller } = service;
    const talk = async (content = "hi") => (await service.ask(content)).started;
    const [old, young, archived, other] = [await talk(), await talk(), await talk(), await talk()];
    await threads.archiveThread(caller, archived.threadId, true);
    await threads.archiveThread(caller, other.threadId, true);
    // A schedule goes on with each of these; that of the second is switched off.
    const [scheduled, paused] = [await talk(), await talk()];
    for (const { threadId } of [scheduled, paused])
      await database.query(
        `insert into schedules (id, user_id, thread_id, agent, prompt, cron, time_zone, missed, enabled)
         values ($1, $2, $3, 'assistant', 'hi', '0 0 1 1 *', 'UTC', 'skip', $4)`,
        [newId(), caller.userId, threadId, threadId === scheduled.threadId],
      );
    const busy = await runs.start(caller, { agent: "assistant", message: { content: "hang" } });
    await until(() => service.model.requests.some((request) => JSON.stringify(request).includes("hang")));
    const session = (id: string) => join(folders.sessions, `${id}.json`);
    await until(() => readdirSync(folders.sessions).filter((name) => name.endsWith(".json")).length >= 7);
    for (const { threadId } of [old, archived, busy, young])
      await (await workspaces.open(threadId)).write("a.txt", "a");
    for (const { threadId } of [old, archived, busy, scheduled, paused]) await ageThread(threadId, 11);
    // Begun long ago, and at work until lately.
    await age("threads", "used_at", young.threadId, 11);
    await age("threads", "archived_at", archived.threadId, 6);
    const [oldFile, youngFile] = [await bring(), await bring()];
    // One that somebody else brought to the run at work, and one that waits behind it.
    const [given, waiting] = [await bring(), await bring()];
    const mate = await createUser(database.query, { name: `mate ${newId()}`, role: "user" });
    const behind = await runs.start(caller, {
      agent: "assistant",
      threadId: busy.threadId,
      message: { content: "next" },
    });
    assert.equal(behind.pending, true);
    const files = ({ id }: { readonly id: string }) => JSON.stringify([{ id }]);
    await database.query("update uploads set user_id = $2 where id = $1", [given.id, mate.id]);
    await database.query(
      `with t as (update threads set next_seq = next_seq + 1 where id = $1 returning next_seq - 1 as seq)
       insert into items (thread_id, seq, id, user_id, run_id, kind, body)
       select $1, seq, $2, $3, $4, 'message', jsonb_build_object('role', 'user', 'content', 'and this', 'files', $5::jsonb) from t`,
      [busy.threadId, newId(), mate.id, busy.runId, files(given)],
    );
    await database.query(
      "update pending set start = jsonb_set(start, '{items,0,body,files}', $2::jsonb) where run_id = $1",
      [behind.runId, files(waiting)],
    );
    for (const { id } of [oldFile, given, waiting]) await age("uploads", "created_at", id, 11);
    const shares = createShares(database.query);
    const { share } = await shares.create({
      userId: caller.userId,
      threadId: young.threadId,
      leaf: newId(),
    });
    await age("shares", "created_at", share.id, 11);

    const retention = createRetention({ ...parts, configured: { shares: { days: 10, source: "a file" } } });
    // By default only logs go.
    await database.query("delete from model_calls");
    assert.deepEqual(
      (await retention.preview()).map(({ kind, count }) => [kind, count]),
      [
        ["shares", 1],
        ["callLog", 0],
        ["audit", 0],
      ],
    );
    assert.deepEqual(await retention.preview("threads", 10), [{ kind: "threads", days: 10, count: 2 }]);
    for (const kind of ["threads", "uploads"] as const) await retention.set(kind, 10);
    await retention.set("archivedThreads", 5);
    await assert.rejects(retention.set("shares", 1), { code: "set_elsewhere" });
    const rule = async (kind: string) => (await retention.rules()).find((found) => found.kind === kind)!;
    assert.deepEqual([(await rule("shares")).readOnly, (await rule("threads")).source], [true, "admin"]);

    const results = await retention.removeNow();
    assert.deepEqual(
      results!.map(({ kind, removed, error }) => [kind, removed, error]),
      [
        ["threads", 2, null],
        ["archivedThreads", 1, null],
        ["uploads", 1, null],
        ["shares", 1, null],
        ["callLog", 0, null],
        ["audit", 0, null],
      ],
    );
    assert.equal((await rule("threads")).lastRemoved, 2);
    for (const { threadId } of [old, archived, paused]) {
      assert.equal(await exists("threads", threadId), false);
      assert.equal(existsSync(session(threadId)), false);
    }
    for (const { threadId } of [young, other, busy, scheduled]) {
      assert.equal(await exists("threads", threadId), true);
      assert.equal(existsSync(session(threadId)), true);
    }
    assert.equal(existsSync(uploads.placeOf(oldFile)), false);
    for (const kept of [youngFile, given, waiting]) assert.equal(readFileSync(uploads.placeOf(kept), "utf8"), "a");
    await removeForgotten(workspaces, { database, log: silentLog });
    assert.deepEqual((await workspaces.threads()).toSorted(), [busy.threadId, young.threadId].toSorted());

    // Files alone: the conversation stays.
    await ageThread(young.threadId, 11);
    await retention.set("threads", null);
    await retention.set("workspaces", 10);
    assert.deepEqual(await retention.preview("workspaces"), [{ kind: "workspaces", days: 10, count: 1 }]);
    await retention.removeNow();
    assert.deepEqual(await workspaces.threads(), [busy.threadId]);
    assert.equal(await exists("threads", young.threadId), true);

    // How runs were made goes, what was said stays.
    // But for what somebody did in a conversation of somebody else.
    const [own, long, elsewhere] = [idOf(20), idOf(20), idOf(20)];
    for (const [id, userId, days] of [
      [own, caller.userId, 20],
      [long, caller.userId, 5],
      [elsewhere, mate.id, 20],
    ] as const)
      await database.query(
        `insert into runs (id, thread_id, user_id, agent, status, root_run, definition_hash, caller, ended_at)
         select $1, thread_id, $2, agent, status, $1, definition_hash, caller, now() - $4 * interval '1 day' from runs where id = $3`,
        [id, userId, other.runId, days],
      );
    await retention.set("runs", 10);
    await retention.removeNow();
    assert.equal(await exists("runs", own), false);
    for (const id of [busy.runId, other.runId, long, elsewhere]) assert.equal(await exists("runs", id), true);
    assert.equal((await threads.listItems(caller, other.threadId, {})).length, 3);
    const again = await service.ask("more", { threadId: other.threadId });
    assert.equal(again.text, "yes");

    await runs.cancel(caller, behind.runId);
    await runs.cancel(caller, busy.runId);
    await until(async () => (await runs.get(caller, busy.runId)).status === "cancelled");
    for (const { name, broken } of await checkInvariants(database.query)) assert.equal(broken, 0, name);
    const findings = await retentionFindings(database.query, {});
    assert.ok(findings.every(({ grade }) => grade === "ok"));
    assert.match(
      findings.map(({ text }) => text).join("\n"),
      /workspaces: 10 days \(admin\).*kept indefinitely: threads, shares/s,
    );
  });

  test("logs go by their days, in bounded batches; links that have expired go though links are kept for ever", async () => {
    const { query } = database;
    const fill = (name: string, days: number, rows: number) =>
      query(
        `insert into model_calls (id, asked, model, provider, started_at, total_ms)
         select gen_random_uuid(), 'm', $1, 'p', now() - $2 * interval '1 hour', 1 from generate_series(1, $3::integer)`,
        [name, days * 24, rows],
      );
    await query("delete from model_calls");
    await fill("old", 91, 12_000);
    await fill("new", 89, 10);
    createAuditLog(query, silentLog);
    await query(
      `insert into audit_log (id, at, user_name, via, address, method, path, status, request_id)
       values ($1, now() - interval '366 days', '', '', '', 'DELETE', '/', 200, '')`,
      [newId()],
    );
    const { started } = await service.ask("hi");
    const shares = createShares(query);
    const share = async () =>
      (await shares.create({ userId: service.caller.userId, threadId: started.threadId, leaf: newId() })).share.id;
    const [expired, lasting, endless] = [await share(), await share(), await share()];
    await age("shares", "expires_at", expired, 1);
    await age("shares", "expires_at", lasting, -1);
    await query("delete from model_calls where model not in ('old', 'new')");
    const retention = createRetention(parts);
    const results = new Map((await retention.removeNow())!.map(({ kind, removed }) => [kind, removed]));
    assert.deepEqual([results.get("callLog"), results.get("audit"), results.get("shares")], [12_000, 1, 1]);
    assert.deepEqual(await Promise.all([expired, lasting, endless].map((id) => exists("shares", id))), [
      false,
      true,
      true,
    ]);
    assert.deepEqual(await query("select model, count(*)::integer as calls from model_calls group by model"), [
      { model: "new", calls: 10 },
    ]);
  });

  test("what one round leaves over goes in the next ones, which follow at once", async () => {
    const { query } = database;
    await query("delete from audit_log");
    await query(
      `insert into audit_log (id, at, user_name, via, address, method, path, status, request_id)
       select gen_random_uuid(), now() - interval '366 days', '', '', '', 'DELETE', '/', 200, '' from generate_series(1, 12000)`,
    );
    await query("update retention set last_at = null where kind = '*'");
    const stop = createRetention({ ...parts, maxBatches: 1 }).begin();
    await until(async () => (await query("select from audit_log limit 1")).length === 0);
    await stop();
  });

  test("one node at a time, each hour; one that died over it is followed by another", async () => {
    const { query } = database;
    const retention = createRetention(parts);
    await query("update retention set leased_until = now() + interval '1 minute', last_at = null where kind = '*'");
    assert.equal(await retention.removeNow(), undefined);
    await query("update retention set leased_until = now() - interval '1 minute' where kind = '*'");
    const last = async () =>
      (await query<{ at: Date | null }>("select last_at as at from retention where kind = '*'"))[0]!.at;
    const nodes = [createRetention(parts), createRetention(parts)].map((node) => node.begin());
    await until(async () => (await last()) !== null);
    await Promise.all(nodes.map((stop) => stop()));
    const first = await last();
    const stop = createRetention(parts).begin();
    await stop();
    assert.deepEqual(await last(), first);
  });
});
