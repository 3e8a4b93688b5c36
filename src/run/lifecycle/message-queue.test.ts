import assert from "node:assert/strict";
import { test } from "node:test";
import { eachRunDatabase, rowOf, until, watch } from "../../../test/run-suite.ts";
import type { TestRuns } from "../../../test/runs.ts";
import { newId } from "../../protocol/base/ids.ts";
import { textOf } from "../../protocol/threads/items.ts";
import type { ModelRequest } from "../../protocol/agents/models.ts";
import { checkInvariants } from "../../store/schema/invariants.ts";

eachRunDatabase((suite) => {
  const say = (service: TestRuns, content: string, threadId?: string) =>
    service.runs.start(service.caller, {
      agent: "assistant",
      message: { content },
      ...(threadId === undefined ? {} : { threadId }),
    });
  const inputs = async (service: TestRuns, threadId: string) =>
    (await service.threads.listItems(service.caller, threadId, { limit: 1000 })).flatMap((item) =>
      item.kind === "message" && item.body.role === "user" ? [textOf(item.body.content)] : [],
    );
  const held = () => {
    const gate = Promise.withResolvers<void>();
    // Whose model is asked first is a race where there are several threads.
    const script = ({ messages }: ModelRequest, count: number) =>
      messages.at(-1)?.content === "0" ? [{ text: "one" }, { gate: () => gate.promise }] : `answer ${count}`;
    return { gate, script };
  };

  test("many messages keep their order", async () => {
    const { gate, script } = held();
    const service = await suite.start({ script });
    const first = await say(service, "0");
    const others = [];
    for (let n = 1; n <= 12; n++) others.push(await say(service, String(n), first.threadId));
    assert.ok(others.every((started) => started.pending));
    gate.resolve();
    await service.events(others.at(-1)!);
    assert.deepEqual(
      await inputs(service, first.threadId),
      Array.from({ length: 13 }, (_, n) => String(n)),
    );
    assert.deepEqual(await suite.database().query("select pending from threads"), [{ pending: 0 }]);
  });

  test("messages that wait are listed as queued runs, newest first, and each once", async () => {
    const { gate, script } = held();
    const service = await suite.start({ script });
    const first = await say(service, "0");
    const others = [];
    for (let n = 1; n <= 3; n++) others.push(await say(service, String(n), first.threadId));
    const ids = [first, ...others].map(({ runId }) => runId).reverse();
    const list = async (filter: Parameters<typeof service.runs.list>[1] = {}) =>
      (await service.runs.list(service.caller, filter)).map(({ id }) => id);
    assert.deepEqual(await list(), ids);
    assert.deepEqual(await list({ threadId: first.threadId, limit: 2 }), ids.slice(0, 2));
    assert.deepEqual(await list({ before: ids[1]!, limit: 2 }), ids.slice(2));
    assert.deepEqual(await list({ threadId: newId() }), []);
    await until(async () => (await list({ status: "running" })).length === 1);
    assert.deepEqual(await list({ status: "queued" }), ids.slice(0, 3));
    const [queued] = await service.runs.list(service.caller, { status: "queued" });
    assert.deepEqual(queued, await service.runs.get(service.caller, ids[0]!));
    const everybodys = await service.adminRuns.list({
      status: "queued",
      user: service.caller.name,
      agent: "assistant",
    });
    assert.deepEqual(
      everybodys.map(({ id }) => id),
      ids.slice(0, 3),
    );
    assert.deepEqual(everybodys[0], (await service.adminRuns.get(ids[0]!)).run);
    gate.resolve();
    await service.events(others.at(-1)!);
    assert.deepEqual(await list(), ids);
  });

  test("what waits is told with its words, the next one first, to its owner alone", async () => {
    const { gate, script } = held();
    const service = await suite.start({ script });
    const first = await say(service, "0");
    assert.deepEqual(await service.threads.pending(service.caller, first.threadId), []);
    const second = await say(service, "one *more*", first.threadId);
    const third = await say(service, "x".repeat(100_001), first.threadId);
    const waiting = await service.threads.pending(service.caller, first.threadId);
    assert.deepEqual(
      waiting.map(({ id, agent, text, isWhole, files }) => ({ id, agent, length: text.length, isWhole, files })),
      [
        { id: second.runId, agent: "assistant", length: 10, isWhole: true, files: [] },
        { id: third.runId, agent: "assistant", length: 100_000, isWhole: false, files: [] },
      ],
    );
    assert.equal(waiting[0]!.text, "one *more*");
    const other = { ...service.caller, userId: newId() };
    await assert.rejects(service.threads.pending(other, first.threadId), { code: "thread_not_found" });
    await service.runs.cancel(service.caller, third.runId);
    gate.resolve();
    await service.events(second);
    assert.deepEqual(await service.threads.pending(service.caller, first.threadId), []);
  });

  test("a message does not overtake those that wait", async () => {
    const { gate, script } = held();
    const service = await suite.start({ script });
    const first = await say(service, "0");
    const second = await say(service, "1", first.threadId);
    // The process that ended the run died before it started the next one.
    await suite.database().query("update threads set pending = pending + 1");
    await service.runs.cancel(service.caller, second.runId);
    await suite.database().query("update threads set pending = 0");
    const forgotten = await say(service, "2", first.threadId);
    await suite.database().query("update threads set pending = 0");
    gate.resolve();
    await service.events(first);
    await until(() => service.active() === 0);
    await suite.database().query("update threads set pending = 1");
    assert.equal((await service.runs.get(service.caller, forgotten.runId)).status, "queued");

    const last = await say(service, "3", first.threadId);
    assert.equal(last.pending, true);
    await service.events(last);
    assert.deepEqual(await inputs(service, first.threadId), ["0", "2", "3"]);
  });

  test("a waiting message is cancelled: its followers hear of it, and the others go on", async () => {
    const { gate, script } = held();
    const service = await suite.start({ script });
    const first = await say(service, "0");
    const second = await say(service, "1", first.threadId);
    const third = await say(service, "2", first.threadId);
    const ended = service.events(second);
    assert.equal((await service.runs.cancel(service.caller, second.runId)).status, "cancelled");
    assert.equal((await service.runs.cancel(service.caller, second.runId)).status, "cancelled");
    const end = (await ended).at(-1)!;
    assert.ok(end.type === "run-end" && end.status === "cancelled");
    gate.resolve();
    await service.events(third);
    assert.deepEqual(await inputs(service, first.threadId), ["0", "2"]);
    assert.ok((await checkInvariants(suite.database().query)).every(({ broken }) => broken === 0));
  });

  test("an Idempotency-Key and a message id find the run that waits", async () => {
    const { gate, script } = held();
    const service = await suite.start({ script });
    const id = newId();
    const first = await service.runs.start(service.caller, { agent: "assistant", message: { id, content: "0" } });
    const input = {
      agent: "assistant",
      threadId: first.threadId,
      message: { id: newId(), content: "1" },
      idempotency: { key: "again", bodyHash: "h" },
    };
    const second = await service.runs.start(service.caller, input);
    const byKey = await service.runs.start(service.caller, input);
    const { idempotency: _, ...withoutKey } = input;
    const byId = await service.runs.start(service.caller, withoutKey);
    const running = await service.runs.start(service.caller, { ...withoutKey, message: { id, content: "0" } });
    assert.deepEqual(
      [second, byKey, byId, running].map((started) => [started.runId, started.replayed, started.pending]),
      [
        [second.runId, false, true],
        [second.runId, true, true],
        [second.runId, true, true],
        [first.runId, true, false],
      ],
    );
    await assert.rejects(
      service.runs.start(service.caller, { ...input, idempotency: { key: "again", bodyHash: "other" } }),
      { status: 422 },
    );
    gate.resolve();
    await service.events(byKey);
    assert.deepEqual(await inputs(service, first.threadId), ["0", "1"]);
  });

  test("a message id that was used elsewhere meanwhile ends its run and holds up nobody", async () => {
    const { gate, script } = held();
    const service = await suite.start({ script });
    const first = await say(service, "0");
    const id = newId();
    const second = await service.runs.start(service.caller, {
      agent: "assistant",
      threadId: first.threadId,
      message: { id, content: "1" },
    });
    const third = await say(service, "2", first.threadId);
    await service.events(
      await service.runs.start(service.caller, { agent: "assistant", message: { id, content: "x" } }),
    );
    gate.resolve();
    await service.events(third);
    assert.equal((await rowOf(suite.database(), second.runId)).error?.code, "message_id_taken");
  });

  test("a message that comes just when a run ends is neither lost nor stuck", async () => {
    const rounds = suite.kind === "postgres" ? 200 : 60;
    const service = await suite.start({ script: () => "ok", perUser: 64 });
    const round = async () => {
      const first = await say(service, "a");
      const watching = watch(service, { threadId: first.threadId, cursor: first.cursor });
      // The answer is in sight, its commit is under way.
      await until(() => watching.seen.some((event) => event.type === "text-delta"));
      const others = await Promise.all(["b", "c"].map((content) => say(service, content, first.threadId)));
      await until(() => watching.seen.filter((event) => event.type === "run-end").length === 3, "three ends");
      watching.close();
      return others;
    };
    for (let done = 0; done < rounds; done += 20) await Promise.all(Array.from({ length: 20 }, round));
    const [counts] = await suite.database().query(
      `select (select count(*)::integer from pending) as pending, (select count(*)::integer from runs where status = 'done') as done,
         (select sum(takeovers)::integer from runs) as takeovers`,
    );
    assert.deepEqual(counts, { pending: 0, done: rounds * 3, takeovers: 0 });
    assert.equal(service.model.requests.length, rounds * 3, "no step was repeated");
    assert.ok((await checkInvariants(suite.database().query)).every(({ broken }) => broken === 0));
  });
});
