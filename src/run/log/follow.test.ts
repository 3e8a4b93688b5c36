import assert from "node:assert/strict";
import { test } from "node:test";
import { eachRunDatabase, until, watch, passOn } from "../../../test/run-suite.ts";
import { textIn, type TestRuns } from "../../../test/runs.ts";
import { formatCursor, parseCursor, type Cursor, type RunEvent } from "../../protocol/threads/events.ts";
import type { RunStart } from "../runs.ts";

/** Numbers in a row that look random and are the same each time. */
function numbers(seed: number): (below: number) => number {
  return (below) => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % below;
}

/** Follows until it was told enough, closes, and says where it was by then, as a client would send it back. */
async function readUntil(service: TestRuns, started: RunStart, from: Cursor, enough: (seen: RunEvent[]) => boolean) {
  const seen: RunEvent[] = [];
  let cursor = from;
  let over = false;
  const follower = service.runs.follow(started, from, {
    events(batch, at) {
      if (over) return;
      seen.push(...batch);
      cursor = at();
      over = enough(seen);
    },
    error(error) {
      throw error;
    },
  });
  await until(() => over || enough(seen), "enough events");
  follower.close();
  return { seen, cursor: parseCursor(formatCursor(cursor))! };
}

const ended = (events: readonly RunEvent[]) => events.some((event) => event.type === "run-end");
const textLength = (events: readonly RunEvent[]) =>
  events.reduce((sum, event) => sum + (event.type === "text-delta" ? event.text.length : 0), 0);
const shapes = (events: readonly RunEvent[]) =>
  events.filter((event) => !event.type.endsWith("-delta")).map((event) => event.type);

eachRunDatabase((suite) => {
  const begin = (service: TestRuns, content = "hi") =>
    service.runs.start(service.caller, { agent: "assistant", message: { content } });

  test("who comes late is told all, in the same order and with the same text", async () => {
    const service = await suite.start({
      script: [
        [{ reasoning: "Hm. " }, { text: "I'll look. " }, { call: "now", arguments: {} }],
        [{ text: "No" }, { text: "on." }],
      ],
    });
    const { started, events } = await service.ask("time?");
    const late = await readUntil(service, started, started.cursor, ended);
    assert.deepEqual(shapes(late.seen), shapes(events));
    assert.equal(textIn(late.seen), "I'll look. Noon.");
    assert.equal(textIn(events), "I'll look. Noon.");
    const after = await readUntil(service, started, late.cursor, () => true);
    assert.deepEqual(after.seen, []);
  });

  test("taken up again anywhere, as often as you like, a text has no gap and no repeat", async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const random = numbers(seed);
      const pieces = Array.from({ length: 5 + random(20) }, (_, n) => `${n}:${"x".repeat(random(9))} `);
      const whole = pieces.join("");
      const gates = pieces.map(() => Promise.withResolvers<void>());
      const service = await suite.start({
        script: [pieces.flatMap((text, n) => [{ gate: () => gates[n]!.promise }, { text }])],
      });
      const started = await begin(service);
      let opened = 0;
      let cursor = started.cursor;
      const told: RunEvent[] = [];
      while (!ended(told)) {
        const before = textLength(told);
        const more = Math.min(pieces.length, opened + 1 + random(4));
        // Some followers come while nothing is new, and are gone again.
        if (random(3) > 0) while (opened < more) gates[opened++]!.resolve();
        const available = pieces.slice(0, opened).join("").length;
        const wanted = before + random(available - before + 1);
        const leg = await readUntil(service, started, cursor, (seen) =>
          opened === pieces.length ? ended(seen) : before + textLength(seen) >= wanted,
        );
        told.push(...leg.seen);
        cursor = leg.cursor;
      }
      const deltas = told.flatMap((event) => (event.type === "text-delta" ? [event] : []));
      assert.equal(deltas.map((event) => event.text).join(""), whole, `seed ${seed}`);
      let offset = 0;
      for (const delta of deltas) {
        assert.equal(delta.offset, offset);
        offset += delta.text.length;
      }
      assert.equal(shapes(told).filter((type) => type === "step-start").length, 1);
      await service.stop(0);
    }
  });

  test("all followers of a thread are told the same events, made once for all of them", async () => {
    const gate = Promise.withResolvers<void>();
    const service = await suite.start({ script: [[{ gate: () => gate.promise }, { text: "for all" }]] });
    const started = await begin(service);
    const [one, other] = [watch(service, started), watch(service, { ...started, runId: undefined as never })];
    await until(() => one.seen.length > 0 && other.seen.length > 0);
    gate.resolve();
    await until(() => ended(one.seen) && ended(other.seen), "the end");
    one.close();
    other.close();
    const answer = (events: readonly RunEvent[]) =>
      events.filter(({ type }) => type === "text-delta" || type === "message").slice(-2);
    assert.equal(answer(one.seen).length, 2);
    for (const [n, event] of answer(one.seen).entries()) assert.equal(event, answer(other.seen)[n]);
  });

  test("who comes in mid-message to a process that nobody followed is told it from its first character", async () => {
    const gate = Promise.withResolvers<void>();
    const half = {
      told: false,
      gate: () => {
        half.told = true;
        return gate.promise;
      },
    };
    const service = await suite.start({ script: [] });
    await service.stop(0);
    // It still accepts; another one, that has seen nothing of the thread, takes the run.
    const started = await begin(service);
    const other = await suite.start({
      script: [[{ text: "The first half, " }, { gate: half.gate }, { text: "the second half." }]],
    });
    await until(() => other.model.requests.length === 1);
    // The follower comes after the first text and sees the second as it is told.
    await until(() => half.told, "the first half");
    const leg = await readUntil(other, started, started.cursor, (seen) => textLength(seen) > 0);
    assert.equal(textIn(leg.seen), "The first half, ");
    gate.resolve();
    const rest = await readUntil(other, started, leg.cursor, ended);
    assert.equal(textIn(rest.seen), "the second half.");
  });

  test("an attempt that died is withdrawn and told anew", async () => {
    const service = await suite.start({
      script: (_, count) =>
        count === 0 ? [{ text: "half an ans" }, { hang: true }] : [{ text: "A whole " }, { text: "one." }],
    });
    const started = await begin(service);
    const watching = watch(service, started);
    await until(() => textLength(watching.seen) > 0);
    await passOn(suite.database(), started.runId);
    await until(() => ended(watching.seen), "the end");
    watching.close();
    assert.deepEqual(
      watching.seen.map((event) => event.type),
      [
        "run-start",
        "message",
        "step-start",
        "text-delta",
        "step-retry",
        "step-start",
        "text-delta",
        "text-delta",
        "message",
        "run-end",
      ],
    );
    assert.equal(textIn(watching.seen), "A whole one.");
    // The same for who was away meanwhile.
    const live = [{ run: started.runId, step: "1", attempt: 1, text: 5, reasoning: 0 }];
    const back = await readUntil(service, started, { seq: 1, live }, ended);
    assert.deepEqual(shapes(back.seen), ["step-retry", "step-start", "message", "run-end"]);
    assert.equal(textIn(back.seen), "A whole one.");
  });

  test("what an attempt that died has told is withdrawn, too, if the run ends before it is told anew", async () => {
    const service = await suite.start({ script: () => [{ text: "half an ans" }, { hang: true }] });
    const started = await begin(service);
    const watching = watch(service, started);
    await until(() => textLength(watching.seen) > 0);
    await suite.database().query("update runs set cancel_asked = true where id = $1", [started.runId]);
    await passOn(suite.database(), started.runId);
    await until(() => ended(watching.seen), "the end");
    watching.close();
    assert.deepEqual(
      watching.seen.slice(-2).map((event) => event.type),
      ["step-retry", "run-end"],
    );
    assert.equal(textIn(watching.seen), "");
  });

  test("a run's followers hear of nothing else in its thread", async () => {
    const service = await suite.start({ script: ["one", "two"] });
    const { started: first } = await service.ask("1");
    const { started: second } = await service.ask("2", { threadId: first.threadId });
    const all = await readUntil(
      service,
      { ...first, runId: undefined as never },
      { seq: 0, live: [] },
      (seen) => shapes(seen).filter((type) => type === "run-end").length === 2,
    );
    const one = await readUntil(service, second, { seq: 0, live: [] }, ended);
    assert.equal(shapes(all.seen).length, 10);
    assert.equal(textIn(one.seen), "two");
    assert.ok(one.seen.every((event) => !("item" in event) || event.item.runId === second.runId));
  });

  test("a thousand items are told before the end", async () => {
    const service = await suite.start({ script: ["ok"] });
    const history = Array.from({ length: 1200 }, (_, n) => ({
      id: crypto.randomUUID(),
      kind: "message" as const,
      body: { role: n % 2 ? ("assistant" as const) : ("user" as const), content: `m${n}` },
    }));
    const started = await service.runs.start(service.caller, {
      agent: "assistant",
      history,
      message: { content: "hi" },
    });
    await service.events(started);
    const all = await readUntil(service, { ...started, runId: undefined as never }, { seq: 0, live: [] }, ended);
    const seqs = all.seen.flatMap((event) => ("seq" in event ? [event.seq] : []));
    assert.deepEqual(
      seqs,
      Array.from({ length: 1203 }, (_, n) => n + 1),
    );
  });

  test("what can't be stored is told as it is stored", async () => {
    const service = await suite.start({
      script: [[{ text: "nul \0 half \ud83d" }, { text: "\ude00 lone \udc00 end \ud800" }]],
    });
    const { started, text } = await service.ask("say \0 and \ud800");
    const items = await service.threads.listItems(service.caller, started.threadId, {});
    const expected = "nul \ufffd half \ud83d\ude00 lone \ufffd end ";
    assert.equal(text, expected);
    assert.deepEqual(
      items.flatMap((item) => (item.kind === "message" ? [item.body.content] : [])),
      ["say \ufffd and \ufffd", expected],
    );
  });
});

eachRunDatabase((suite) => {
  test("a follower on another node sees items and live text, and the end", async () => {
    const gate = Promise.withResolvers<void>();
    const one = await suite.start({
      script: [[{ text: "live \ud83d\ude00 " }, { gate: () => gate.promise }, { text: "rest" }]],
    });
    const started = await one.runs.start(one.caller, { agent: "assistant", message: { content: "hi" } });
    await until(() => one.model.requests.length === 1);
    // It has nothing to do itself, but could take a job.
    const two = await suite.start({ script: [] });
    const early = await readUntil(two, started, started.cursor, (seen) => textLength(seen) > 0);
    assert.equal(textIn(early.seen), "live \ud83d\ude00 ");
    gate.resolve();
    const rest = await readUntil(two, started, early.cursor, ended);
    assert.equal(textIn(rest.seen), "rest");
    assert.deepEqual(shapes([...early.seen, ...rest.seen]), [
      "run-start",
      "message",
      "step-start",
      "message",
      "run-end",
    ]);
  });

  test("of live text whose beginning was lost with a crash of the database nothing is told before its message", async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const one = await suite.start({
      script: [
        [{ text: "first " }, { gate: () => gates[0]!.promise }, { text: "second " }, { gate: () => gates[1]!.promise }],
      ],
    });
    const { query } = suite.database();
    const stored = async () => (await query<{ body: string }>("select body from deltas")).map(({ body }) => body);
    const started = await one.runs.start(one.caller, { agent: "assistant", message: { content: "hi" } });
    await until(async () => (await stored()).includes("first "), "the beginning");
    await query("delete from deltas");
    gates[0]!.resolve();
    await until(async () => (await stored()).includes("second "), "the rest");
    const two = await suite.start({ script: [] });
    const early = await readUntil(two, started, started.cursor, (seen) => seen.some(({ type }) => type === "message"));
    gates[1]!.resolve();
    const rest = await readUntil(two, started, early.cursor, ended);
    assert.equal(textIn([...early.seen, ...rest.seen]), "first second ");
  });
}, "postgres");
