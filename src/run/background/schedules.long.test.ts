import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eachRunDatabase, type RunSuite, until } from "../../../test/run-suite.ts";

/** At once on both databases: it is a minute of waiting. */
describe("a minute", { concurrency: true }, () => eachRunDatabase(inAMinute));

function inAMinute({ start }: RunSuite): void {
  test("a minute comes round, and is one run however many nodes there are", async () => {
    const services = [await start({ script: () => "hello" }), await start({ script: () => "hello" })];
    const { schedules, runs, caller } = services[0]!;
    const made = await schedules.create(caller, { agent: "assistant", prompt: "hi", every: "1m" });
    const soon = Date.parse(made.next!);
    const end = soon + 60_000;
    while (Date.now() < end) {
      const seen = await runs.list(caller, { threadId: made.threadId });
      if (seen.length > 0) break;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    await until(async () => {
      const seen = await runs.list(caller, { threadId: made.threadId });
      return seen.length > 0 && seen.every(({ status }) => status === "done");
    }, "the run to end");
    // Both nodes have had their turn to look for this minute's work.
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, soon + 45_000 - Date.now())));
    assert.equal((await runs.list(caller, { threadId: made.threadId })).length, 1);
  });
}
