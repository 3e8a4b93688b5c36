import assert from "node:assert/strict";
import { test } from "node:test";
import { anyRunDatabase, rowOf, until, watch } from "../../../test/run-suite.ts";
import type { TestRuns } from "../../../test/runs.ts";
import { callIdOf } from "../../protocol/threads/items.ts";
import { checkInvariants } from "../../store/schema/invariants.ts";

const clientTools = ["ask", "tell"].map((name) => ({ name, description: "", parameters: { type: "object" } }));

anyRunDatabase((suite) => {
  const begin = (service: TestRuns) =>
    service.runs.start(service.caller, { agent: "assistant", message: { content: "hi" }, options: { clientTools } });
  const callIds = async (service: TestRuns, threadId: string) =>
    (await service.threads.listItems(service.caller, threadId, {})).flatMap((item) =>
      item.kind === "call" ? [callIdOf(item.id)] : [],
    );
  const bring = (service: TestRuns, callId: string, content: string) =>
    service.runs.bringResults(service.caller, [{ callId, content }]);
  const twoCalls = [
    { call: "ask", arguments: {} },
    { call: "tell", arguments: {} },
  ];

  test("a run goes on when it has all results, in the order of its calls", async () => {
    const service = await suite.start({ script: [twoCalls, "Thanks."] });
    const started = await begin(service);
    await service.events(started);
    const [first, second] = await callIds(service, started.threadId);
    await until(async () => (await rowOf(suite.database(), started.runId)).status === "waiting");
    await bring(service, second!, "two");
    assert.equal((await rowOf(suite.database(), started.runId)).status, "waiting");
    assert.equal((await bring(service, second!, "again")).replayed, true);
    const resumed = await bring(service, first!, "one");
    await service.events(resumed);
    assert.deepEqual(
      service.model.requests[1]!.messages.flatMap((message) => (message.role === "tool" ? [message.content] : [])),
      ["one", "two"],
    );
    assert.equal((await rowOf(suite.database(), started.runId)).takeovers, 0);
  });

  test("foreign, unknown, mixed and missing ids are refused", async () => {
    const service = await suite.start({ script: [twoCalls, twoCalls] });
    const one = await begin(service);
    const two = await begin(service);
    await Promise.all([service.events(one), service.events(two)]);
    const [mine] = await callIds(service, one.threadId);
    const [other] = await callIds(service, two.threadId);
    const unknown = callIdOf(crypto.randomUUID());
    for (const ids of [[], ["call_1"], [unknown], [mine!, unknown], [mine!, "toolu_x", "toolu_y"], [mine!, other!]]) {
      const results = ids.map((callId) => ({ callId, content: "x" }));
      await assert.rejects(service.runs.bringResults(service.caller, results), { status: 400 }, ids.join());
    }
    const stranger = { ...service.caller, userId: crypto.randomUUID() };
    await assert.rejects(service.runs.bringResults(stranger, [{ callId: mine!, content: "x" }]), { status: 400 });
    await service.runs.cancel(service.caller, one.runId);
    assert.equal((await bring(service, mine!, "too late")).replayed, true);
  });

  test("what is said with results is read at the same step, once; a run that can't read it says so", async () => {
    const service = await suite.start({ script: [[twoCalls[0]!], "Thanks.", [twoCalls[0]!]] });
    const started = await begin(service);
    await service.events(started);
    const [callId] = await callIds(service, started.threadId);
    const say = (content: string, id = callId!) =>
      service.runs.bringResults(service.caller, [{ callId: id, content: "one" }], { message: { content } });
    await until(async () => (await rowOf(suite.database(), started.runId)).status === "waiting");
    await service.events(await say("and hurry"));
    assert.equal((await say("and hurry")).replayed, true);
    await assert.rejects(say("something else"), { code: "run_not_live" });
    const told = service.model.requests[1]!.messages.slice(-2).map(({ role, content }) => [role, content]);
    assert.deepEqual(told, [
      ["tool", "one"],
      ["user", "and hurry"],
    ]);
    const ended = await begin(service);
    await service.events(ended);
    const [open] = await callIds(service, ended.threadId);
    await service.runs.cancel(service.caller, ended.runId);
    await assert.rejects(say("too late", open), { code: "run_not_live" });
    assert.ok((await checkInvariants(suite.database().query)).every(({ broken }) => broken === 0));
  });

  test("results that met an outage, sent again by several at once: the run goes on once, and all hear its new end", async () => {
    let isAway = true;
    const service = await suite.start({
      script: ({ messages }) => {
        if (messages.at(-1)!.role !== "tool") return [twoCalls[0]!];
        return isAway ? [{ error: "unreachable", message: "away" }] : "Thanks.";
      },
    });
    const input = { agent: "assistant", message: { content: "hi" }, options: { clientTools } };
    const started = await service.runs.start(service.caller, { ...input, held: true });
    await service.events(started);
    const [callId] = await callIds(service, started.threadId);
    await until(async () => (await rowOf(suite.database(), started.runId)).status === "waiting");
    await service.events(await bring(service, callId!, "one"));
    assert.equal((await rowOf(suite.database(), started.runId)).status, "failed");
    isAway = false;
    await service.events(await bring(service, callId!, "another"));
    assert.equal((await rowOf(suite.database(), started.runId)).status, "failed", "of other results nothing is heard");
    const again = await Promise.all([1, 2, 3].map(() => bring(service, callId!, "one")));
    const told = await Promise.all(again.map((start) => service.events(start)));
    for (const events of told) {
      const ends = events.flatMap((event) => (event.type === "run-end" ? [event.status] : []));
      assert.deepEqual(ends, ["done"]);
    }
    assert.equal(service.model.requests.length, 3);
    assert.ok((await checkInvariants(suite.database().query)).every(({ broken }) => broken === 0));
  });

  test("a run that another fault ended stays ended, whatever is brought again", async () => {
    const service = await suite.start({ script: [[twoCalls[0]!], "Thanks."], limits: { steps: 1, onLimit: "stop" } });
    const started = await begin(service);
    await service.events(started);
    const [callId] = await callIds(service, started.threadId);
    await until(async () => (await rowOf(suite.database(), started.runId)).status === "waiting");
    await service.events(await bring(service, callId!, "one"));
    const again = await bring(service, callId!, "one");
    assert.deepEqual([again.replayed, again.resumedAt], [true, undefined]);
    assert.equal((await rowOf(suite.database(), started.runId)).status, "failed");
  });

  test("tools that come with results are offered from then on, in the place of the server's of their name", async () => {
    const service = await suite.start({ script: [[twoCalls[0]!], "Thanks."] });
    const started = await begin(service);
    await service.events(started);
    const [callId] = await callIds(service, started.threadId);
    await until(async () => (await rowOf(suite.database(), started.runId)).status === "waiting");
    const more = ["ask", "calculate", "third"].map((name) => ({ name, description: "new", parameters: {} }));
    const resumed = await service.runs.bringResults(service.caller, [{ callId: callId!, content: "x" }], {
      tools: more,
    });
    await service.events(resumed);
    const offered = (service.model.requests[1]!.tools ?? []).filter(({ name }) =>
      [...more, ...clientTools].some((tool) => tool.name === name),
    );
    assert.deepEqual(
      offered.map(({ name, description }) => [name, description]),
      [
        ["ask", ""],
        ["tell", ""],
        ["calculate", "new"],
        ["third", "new"],
      ],
    );
  });

  test("results that come just when the run begins to wait are not missed", async () => {
    const rounds = suite.kind === "postgres" ? 200 : 60;
    const service = await suite.start({
      script: ({ messages }) => (messages.at(-1)!.role === "tool" ? "Thanks." : [{ call: "ask", arguments: {} }]),
      perUser: 64,
    });
    const round = async () => {
      const started = await begin(service);
      const watching = watch(service, started);
      const call = () => watching.seen.find((event) => event.type === "call-start");
      // Told at its commit: the wait comes next.
      await until(() => call() !== undefined);
      const found = call()!;
      await bring(service, callIdOf("item" in found ? found.item.id : ""), "answer");
      await until(() => watching.seen.some((event) => event.type === "run-end"), "the end");
      watching.close();
    };
    for (let done = 0; done < rounds; done += 20) await Promise.all(Array.from({ length: 20 }, round));
    const [counts] = await suite
      .database()
      .query("select count(*)::integer as done, sum(takeovers)::integer as takeovers from runs where status = 'done'");
    assert.deepEqual(counts, { done: rounds, takeovers: 0 });
    assert.equal(service.model.requests.length, rounds * 2);
    assert.ok((await checkInvariants(suite.database().query)).every(({ broken }) => broken === 0));
  });
});
