import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import { createClient } from "../../../client/client.ts";

let server: AgentServing;
before(async () => {
  server = await serveAgents(() => "done");
});
after(() => server.close());

test("a schedule is made, found, changed, run and removed over HTTP", async () => {
  const { schedules, follow } = createClient({ url: server.url });
  const made = await schedules.create({ agent: "assistant", prompt: "hi", every: "15m" });
  assert.equal(made.cron, "*/15 * * * *");
  assert.deepEqual(await schedules.get(made.id), made);
  assert.deepEqual(await schedules.list(), [made]);
  const changed = await schedules.update(made.id, { cron: "0 9 1 jan *", timeZone: "Asia/Kolkata", missed: "once" });
  assert.deepEqual([changed.cron, changed.timeZone, changed.missed], ["0 9 1 jan *", "Asia/Kolkata", "once"]);
  assert.match(changed.next!, /-01-01T03:30:00\.000Z$/);

  const run = await schedules.runNow(made.id);
  assert.equal(run.threadId, made.threadId);
  let last;
  for await (const { event } of follow(run.id)) last = event;
  assert.equal(last?.type, "run-end");
  assert.equal((await schedules.get(made.id)).lastRun, run.id);

  await schedules.remove(made.id);
  await assert.rejects(schedules.get(made.id), { status: 404, code: "schedule_not_found" });
});

test("when times would be is told without keeping any", async () => {
  const { schedules } = createClient({ url: server.url });
  const { cron, next } = await schedules.times({ every: "1w", timeZone: "Asia/Kolkata" });
  assert.equal(cron, "0 0 * * 1");
  assert.equal(next.length, 5);
  for (const at of next) assert.match(at, /T18:30:00\.000Z$/);
  assert.deepEqual(next.toSorted(), next);
  await assert.rejects(schedules.times({ cron: "0 25 * * *" }), { status: 400 });
  await assert.rejects(schedules.times({ cron: "0 5 * * *", timeZone: "Nowhere/Here" }), { status: 400 });
  await assert.rejects(schedules.times({}), { status: 400 });
  assert.deepEqual(await schedules.list(), []);
});

test("a body that is none is refused with the field's name", async () => {
  for (const [body, field] of [
    [{ agent: "assistant", every: "1d" }, /prompt/],
    [{ agent: "assistant", prompt: "", every: "1d" }, /prompt/],
    [{ agent: "assistant", prompt: "hi", every: "1d", missed: "twice" }, /missed/],
    [{ agent: "assistant", prompt: "hi", ever: "1d" }, /ever/],
    [{ agent: "assistant", prompt: "hi", cron: "0 25 * * *" }, /25/],
  ] as const) {
    const answer = await fetch(server.url + "/api/schedules", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), field);
  }
});
