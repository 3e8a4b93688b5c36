import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { type Breaks, breakingDatabase } from "../../../test/breaking-database.ts";
import { eachRunDatabase, rowOf, until } from "../../../test/run-suite.ts";
import { startTestRuns } from "../../../test/runs.ts";
import { defineTool } from "../../tools/core/define-tool.ts";

eachRunDatabase(({ database }) => {
  /** A write that neither honours its key nor can be asked; its first call may break off. */
  function sending({ breaksOff }: { breaksOff: boolean }) {
    const keys: string[] = [];
    const tool = defineTool({
      name: "send",
      description: "Sends.",
      input: z.object({}),
      effect: "write",
      execute: async (_input, { idempotencyKey }) => {
        if (keys.push(idempotencyKey) === 1 && breaksOff) throw new Error("socket hang up");
        return "sent";
      },
    });
    return { keys, tool };
  }
  const serve = (breaks: Breaks, tool: ReturnType<typeof sending>["tool"]) =>
    startTestRuns({
      database: breakingDatabase(database(), breaks),
      tools: [tool],
      script: ({ messages }) => (messages.at(-1)!.role === "tool" ? "Sent." : [{ call: "send", arguments: {} }]),
    });
  const rows = () => database().query("select status, key from ledger");

  for (const when of ["before", "after"] as const)
    test(`a connection that breaks three times ${when} a claim is made: the write is made once, and nobody is asked`, async (t) => {
      const { keys, tool } = sending({ breaksOff: false });
      const service = await serve({ when, times: 3, meant: (text) => text.includes("insert into ledger") }, tool);
      t.after(() => service.stop(0));
      const { started, text } = await service.ask("go");
      assert.equal(text, "Sent.");
      assert.deepEqual(await rows(), [{ status: "done", key: keys[0] }]);
      assert.equal(keys.length, 1);
      assert.equal((await rowOf(database(), started.runId)).epoch, 1);
    });

  test("what a person had repeated is repeated, though the answer to its claim is lost", async (t) => {
    const { keys, tool } = sending({ breaksOff: true });
    const meant = (text: string) => text.includes("update ledger set status = 'executing'");
    const service = await serve({ when: "after", times: 1, meant }, tool);
    t.after(() => service.stop(0));
    const { started } = await service.ask("go");
    const [question] = await service.approvals.questions(service.caller, started.runId);
    assert.equal(question!.body.reason, "unknown");
    const input = { decision: "retry" as const };
    await service.approvals.decide(service.caller, started.runId, { questionId: question!.id, input });
    await until(async () => (await rowOf(database(), started.runId)).status !== "running", "the end");
    await until(async () => (await rowOf(database(), started.runId)).status === "done", "the end, not a question");
    assert.deepEqual([keys.length, new Set(keys).size], [2, 1]);
    assert.deepEqual(await rows(), [{ status: "done", key: keys[0] }]);
  });
});
