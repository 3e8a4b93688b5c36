import assert from "node:assert/strict";
import { test } from "node:test";
import type { Caller } from "../src/protocol/base/callers.ts";
import { saveBudget } from "../src/store/metering/spending.ts";
import { openRoom } from "./room-place.ts";
import { memberOf, scriptOf } from "./rooms.ts";
import { anyRunDatabase, until } from "./run-suite.ts";

anyRunDatabase((suite) => {
  test("a turn that waits at the budget of its person asks that one whether it may go on, whoever began its run", async () => {
    const gate = Promise.withResolvers<void>();
    const { ada, bob, say, over, rooms, id, lines, service } = await openRoom(suite, {
      room: { members: [memberOf("one"), memberOf("two")], limits: { onLimit: "pause" } },
      script: scriptOf({ one: [[{ gate: () => gate.promise }, { text: "Yes." }]], two: ["For you."] }),
    });
    const budget = { period: "day", tokens: null, cost: null, warnAt: 1, onLimit: "wait" } as const;
    const allow = ({ userId }: Caller, requests: number) =>
      saveBudget(service.database.query, { ...budget, subject: { kind: "user", userId }, requests });
    await allow(bob, 0);
    const root = await say(ada, "@one?");
    await until(() => service.model.requests.length === 1, "the first turn");
    assert.equal(await say(bob, "@two?"), root);
    gate.resolve();
    await until(async () => (await rooms.questions(bob, id)).length > 0, "the question");
    await until(async () => (await service.runs.get(ada, root)).status === "waiting", "the wait");
    const [question] = await rooms.questions(bob, id);
    assert.match(question!.body.text, /budget allows 0 requests/);
    const turn = question!.runId!;
    await assert.rejects(service.runs.continue(bob, turn), { code: "budget_reached", status: 429 });
    // Hers is used up, which is of no importance here.
    await allow(bob, 1);
    await allow(ada, 1);
    assert.equal((await service.runs.continue(bob, turn)).id, turn);
    await over(root);
    // His decision is his, and is found when he is erased, also without his run.
    const decided = "select user_id as of from items where run_id = $1 and kind = 'decision'";
    assert.deepEqual(await service.database.query(decided, [turn]), [{ of: bob.userId }]);
    assert.deepEqual(lines(), ["@user: @one?", "@bob: @two?", "@one: Yes.", "@two: For you."]);
  });
});
