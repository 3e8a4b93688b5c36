import assert from "node:assert/strict";
import { test } from "node:test";
import { analysisRoom, linesOf, memberOf, roomOf, sayIn, scriptOf, speakerOf } from "../../test/rooms.ts";
import { anyRunDatabase, until, watch } from "../../test/run-suite.ts";
import { roomStrategies } from "./strategies.ts";

anyRunDatabase((suite) => {
  test("agents mention one another until it is the user's turn; a pass is no message", async () => {
    const service = await suite.start({
      strategies: roomStrategies,
      agents: [await analysisRoom()],
      script: scriptOf({
        data: ["Let me ask. @code how many rows?", "Ten rows, @user."],
        code: ["10"],
        reviewer: ["[pass]"],
      }),
    });
    const { lines, seen, threadId } = await sayIn(service, "Hey @data, how long is it?", { agent: "analysis" });
    assert.deepEqual(lines, [
      "@user: Hey @data, how long is it?",
      "@data: Let me ask. @code how many rows?",
      "@code: 10",
      "@data: Ten rows, @user.",
      "(@reviewer passes)",
    ]);
    assert.ok(!seen.some((event) => event.type === "text-delta" && event.text.includes("pass")));
    assert.deepEqual(
      service.model.requests.map((request) => speakerOf(request)),
      ["data", "code", "data", "reviewer"],
    );
    assert.deepEqual(linesOf(service.model.requests[2]!), [
      "user: [@user]: Hey @data, how long is it?",
      "assistant: Let me ask. @code how many rows?",
      "user: [@code]: 10",
    ]);
    const items = await service.threads.listItems(service.caller, threadId, {});
    assert.ok(!items.some((item) => item.kind === "message" && item.step === "1" && item.body.content === "[pass]"));
  });

  test("a member that fails is left out; if all fail, so does the run", async () => {
    const service = await suite.start({
      strategies: roomStrategies,
      agents: [roomOf({ members: [memberOf("a", { activation: "always" }), memberOf("b", { activation: "always" })] })],
      script: scriptOf({
        a: [[{ error: "refused", message: "no" }], [{ error: "refused", message: "no" }]],
        b: ["I can."],
      }),
    });
    const { lines, threadId } = await sayIn(service, "Who can?");
    assert.deepEqual(lines, ["@user: Who can?", "@b: I can."]);
    const again = await sayIn(service, "And now?", { threadId });
    const end = again.seen.findLast((event) => event.type === "run-end");
    assert.equal(end?.type === "run-end" && end.status, "failed");
  });

  test("a room that was stopped goes on: who was cut off speaks anew, nobody is asked twice", async () => {
    let hold = true;
    const service = await suite.start({
      strategies: roomStrategies,
      agents: [roomOf({ members: [memberOf("a", { activation: "always" }), memberOf("b")] })],
      script: scriptOf({
        a: ["Let @b say it.", "Thanks."],
        b: () => (hold ? [{ text: "I thi" }, { hang: true }] : "I say it."),
      }),
    });
    const started = await service.runs.start(service.caller, { agent: "room", message: { content: "Who knows?" } });
    const { seen, close } = watch(service, { threadId: started.threadId, cursor: started.cursor });
    await until(() => seen.some((event) => event.type === "text-delta" && event.text.startsWith("I thi")));
    await service.runs.cancel(service.caller, started.runId);
    const ends = () => seen.filter((event) => event.type === "run-end" && event.run === started.runId).length;
    await until(() => ends() === 1);
    hold = false;
    await service.runs.resume(service.caller, started.runId);
    await until(() => ends() === 2);
    close();
    assert.equal((await service.runs.get(service.caller, started.runId)).status, "done");
    const asked = service.model.requests.map((request) => speakerOf(request));
    assert.deepEqual(asked.slice(0, 3), ["a", "b", "b"]);
    const turnsOfB = await suite.database().query("select status from runs where agent = 'b'");
    assert.deepEqual(turnsOfB, [{ status: "done" }], "the same turn went on");
    const last = service.model.requests.findLast((request) => speakerOf(request) === "b")!;
    assert.ok(!linesOf(last).some((line) => line.includes("I thi")));
  });
});
