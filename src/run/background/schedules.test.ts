import assert from "node:assert/strict";
import { test } from "node:test";
import { eachRunDatabase, until } from "../../../test/run-suite.ts";
import type { TestRuns } from "../../../test/runs.ts";
import { type Caller, callerOf } from "../../protocol/base/callers.ts";
import { newId } from "../../protocol/base/ids.ts";
import { changeUser, createUser } from "../../store/people/users.ts";

eachRunDatabase(({ database, start }) => {
  const begin = () => start({ script: ({ messages }) => `heard ${messages.length}` });

  async function person(name: string): Promise<Caller> {
    const user = await createUser(database().query, { name: `${name}-${newId()}`, role: "user" });
    return { ...callerOf(user, "api-key"), name };
  }

  const daily = { agent: "assistant", prompt: "What is on today?", every: "1d" };

  /** What the engine holds, by schedule. */
  const timetable = async () =>
    new Map(
      (
        await database().query<{ key: string; cron: string; timezone: string }>(
          "select key, cron, timezone from pgboss.schedule where name = 'schedules'",
        )
      ).map(({ key, cron, timezone }) => [key, `${cron} ${timezone}`]),
    );

  /** Lets a schedule's time come: a job as the engine would send it, days after the schedule was made. */
  const due = async (id: string, occurrence = newId()) => {
    await database().query("update pgboss.schedule set updated_on = now() - interval '3 days' where key = $1", [id]);
    await send(id, occurrence);
  };
  const send = (id: string, occurrence = newId()) =>
    database().query(
      "insert into pgboss.job (id, name, data) values ($1, 'schedules', jsonb_build_object('key', $2::text))",
      [occurrence, id],
    );

  const runsOf = (service: TestRuns, caller: Caller, threadId: string) => service.runs.list(caller, { threadId });

  async function ended(service: TestRuns, caller: Caller, threadId: string, count = 1) {
    await until(async () => {
      const runs = await runsOf(service, caller, threadId);
      return runs.length === count && runs.every(({ status }) => status === "done");
    }, `${count} runs to end`);
    return runsOf(service, caller, threadId);
  }

  test("a schedule is made with its thread, listed, changed and deleted; the engine follows", async () => {
    const { schedules, threads } = await begin();
    const ann = await person("ann");
    const made = await schedules.create(ann, { ...daily, timeZone: "Europe/Berlin", missed: "once" });
    assert.equal(made.cron, "0 0 * * *");
    assert.equal(made.enabled, true);
    assert.ok(Date.parse(made.next!) > Date.now());
    assert.equal((await threads.getThread(ann, made.threadId)).title, daily.prompt);
    assert.deepEqual(await schedules.list(ann), [made]);
    assert.equal((await timetable()).get(made.id), "0 0 * * * Europe/Berlin");

    const moved = await schedules.update(ann, made.id, { cron: "30  8 * * mon-fri", prompt: "And now?" });
    assert.deepEqual([moved.cron, moved.timeZone, moved.prompt], ["30 8 * * mon-fri", "Europe/Berlin", "And now?"]);
    assert.equal((await timetable()).get(made.id), "30 8 * * mon-fri Europe/Berlin");

    const changes = () => database().query("select updated_on from pgboss.schedule where key = $1", [made.id]);
    const before = await changes();
    await schedules.update(ann, made.id, { prompt: "Other words, the same time" });
    assert.deepEqual(await changes(), before);

    const off = await schedules.update(ann, made.id, { enabled: false });
    assert.equal(off.next, null);
    assert.equal((await timetable()).has(made.id), false);
    await schedules.update(ann, made.id, { enabled: true });
    assert.equal((await timetable()).has(made.id), true);

    await schedules.delete(ann, made.id);
    assert.equal((await timetable()).has(made.id), false);
    await assert.rejects(schedules.get(ann, made.id), { code: "schedule_not_found" });
  });

  test("what can't be a schedule is refused before anything is written", async () => {
    const { schedules, threads } = await begin();
    const [ann, bob] = [await person("ann"), await person("bob")];
    const refusals = [
      [{ every: "90m" }, { status: 400, message: /take 1, 2, 3/ }],
      [{ cron: "61 * * * *" }, { status: 400, message: /61 \* \* \* \*/ }],
      [{ cron: "* * * * * *" }, { status: 400, message: /five fields/ }],
      [
        { cron: "* * * * *", every: "1d" },
        { status: 400, message: /not both/ },
      ],
      [{}, { status: 400, message: /Set cron or every/ }],
      [
        { every: "1d", timeZone: "Europe/Berlim" },
        { status: 400, message: /Europe\/Berlim/ },
      ],
      [{ every: "1d", agent: "nobody" }, { status: 404 }],
      [{ every: "1d", threadId: (await threads.createThread(bob, {})).id }, { status: 404 }],
      [{ every: "1d", threadId: "x" }, { status: 404 }],
    ] as const;
    for (const [input, error] of refusals)
      await assert.rejects(schedules.create(ann, { agent: "assistant", prompt: "hi", ...input }), error);
    assert.deepEqual(await schedules.list(ann), []);
    assert.deepEqual(await threads.listThreads(ann, {}), []);
    assert.equal((await timetable()).size, 0);
  });

  test("nobody reaches another's schedule; the same id again is the first", async () => {
    const { schedules } = await begin();
    const [ann, bob] = [await person("ann"), await person("bob")];
    const id = newId();
    const made = await schedules.create(ann, { ...daily, id });
    assert.deepEqual(await schedules.create(ann, { ...daily, id, prompt: "other" }), made);
    await assert.rejects(schedules.create(bob, { ...daily, id }), { status: 409 });
    const missing = { code: "schedule_not_found" };
    for (const other of [id, newId(), "x"]) {
      await assert.rejects(schedules.get(bob, other), missing);
      await assert.rejects(schedules.update(bob, other, { enabled: false }), missing);
      await assert.rejects(schedules.delete(bob, other), missing);
      await assert.rejects(schedules.runNow(bob, other), missing);
    }
    assert.deepEqual(await schedules.list(bob), []);
    assert.deepEqual(await schedules.get(ann, id), made);
  });

  test("when its time comes it runs in its thread as its owner, once, on whatever node", async () => {
    const first = await begin();
    const second = await begin();
    const ann = await person("ann");
    const made = await first.schedules.create(ann, daily);
    const occurrence = newId();
    await due(made.id, occurrence);
    const [run] = await ended(first, ann, made.threadId);
    const after = await second.schedules.get(ann, made.id);
    assert.deepEqual([after.lastRun, after.lastError], [run!.id, null]);
    const [row] = await database().query<{ caller: Caller }>("select caller from runs where id = $1", [run!.id]);
    assert.deepEqual({ ...row!.caller, name: "" }, { ...ann, name: "", via: "system" });

    // The same occurrence comes again: its node died before it could say that it was done. The prompt has changed since.
    await first.schedules.update(ann, made.id, { prompt: "Something else" });
    const done = "where id = $1 and state = 'completed' returning 1";
    await until(async () => (await database().query(`delete from pgboss.job ${done}`, [occurrence])).length === 1);
    await due(made.id, occurrence);
    await due(made.id);
    await until(
      async () => (await database().query(`update pgboss.job set output = null ${done}`, [occurrence])).length === 1,
    );
    await ended(first, ann, made.threadId, 2);
  });

  test("a disabled owner stops it; why it could not start is kept; what is gone leaves the timetable", async () => {
    const service = await begin();
    const [ann, bob] = [await person("ann"), await person("bob")];
    const stopped = await service.schedules.create(ann, daily);
    const failing = await service.schedules.create(bob, daily);
    const gone = await service.schedules.create(bob, daily);
    await changeUser(database().query, { id: ann.userId, disabled: true });
    await database().query("update schedules set agent = 'retired' where id = $1", [failing.id]);
    await service.threads.deleteThread(bob, gone.threadId);
    assert.equal((await timetable()).size, 3);
    for (const { id } of [stopped, failing, gone]) await due(id);

    await until(async () => (await timetable()).size === 1, "two to leave the timetable");
    await until(async () => (await service.schedules.get(bob, failing.id)).lastError !== null, "an error");
    const after = await service.schedules.get(ann, stopped.id);
    assert.deepEqual([after.enabled, after.next], [false, null]);
    assert.match(after.lastError!, /account ann.* is disabled/);
    assert.match((await service.schedules.get(bob, failing.id)).lastError!, /retired/);
    assert.deepEqual([...(await timetable()).keys()], [failing.id]);
    assert.deepEqual(await service.runs.list(ann, {}), []);
    assert.deepEqual(await service.runs.list(bob, {}), []);
  });

  test("one that still waits for its turn is not joined by the next", async () => {
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    const service = await start({
      script: () => [{ gate: () => held }, { text: "done" }],
    });
    const made = await service.schedules.create(service.caller, daily);
    const first = await service.schedules.runNow(service.caller, made.id);
    const second = await service.schedules.runNow(service.caller, made.id);
    assert.deepEqual([first.pending, second.pending], [false, true]);
    await due(made.id);
    await until(
      async () => /still waits/.test((await service.schedules.get(service.caller, made.id)).lastError ?? ""),
      "it to be left out",
    );
    answer();
    await ended(service, service.caller, made.threadId, 2);
  });

  test("a time before it was made or changed is not its time", async () => {
    const service = await begin();
    const { schedules, caller } = service;
    const made = await schedules.create(caller, daily);
    const off = await schedules.create(caller, daily);
    const changed = await schedules.create(caller, daily);
    await schedules.update(caller, off.id, { enabled: false });
    await schedules.update(caller, changed.id, { every: "1w" });
    for (const { id } of [made, off, changed]) await send(id);
    await until(
      async () =>
        (await database().query("select 1 from pgboss.job where name = 'schedules' and state < 'completed'")).length ===
        0,
      "all jobs to be done",
    );
    assert.deepEqual(await service.runs.list(caller, {}), []);
  });

  test("run now: at once, disabled or not, and once for one key", async () => {
    const service = await begin();
    const ann = await person("ann");
    const made = await service.schedules.create(ann, { ...daily, enabled: false });
    const key = { key: "k", bodyHash: "h" };
    const started = await service.schedules.runNow(ann, made.id, key);
    assert.equal((await service.schedules.runNow(ann, made.id, key)).runId, started.runId);
    await ended(service, ann, made.threadId);
    assert.equal((await service.schedules.get(ann, made.id)).lastRun, started.runId);
  });

  test("a start makes the timetable what the schedules say", async () => {
    const service = await begin();
    const made = await service.schedules.create(service.caller, daily);
    const moved = await service.schedules.create(service.caller, daily);
    await database().query("delete from pgboss.schedule where key = $1", [made.id]);
    await database().query("update pgboss.schedule set cron = '1 1 1 1 1' where key = $1", [moved.id]);
    await database().query(
      "insert into pgboss.schedule (name, key, cron, timezone) values ('schedules', 'gone', '* * * * *', 'UTC')",
    );
    await begin();
    assert.deepEqual(await timetable(), new Map([made.id, moved.id].map((id) => [id, "0 0 * * * UTC"])));
  });
});
