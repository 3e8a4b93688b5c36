import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { eachRunDatabase, rowOf, until } from "../../../test/run-suite.ts";
import { startTestRuns } from "../../../test/runs.ts";
import { defineTool } from "../../tools/core/define-tool.ts";

eachRunDatabase(({ database }) => {
  test("what a person had repeated is repeated, though the database is slow to take that", async (t) => {
    let sent = 0;
    let late = 0;
    const real = database();
    const service = await startTestRuns({
      database: {
        ...real,
        async query<Row extends object>(text: string, values?: readonly unknown[]) {
          const rows = await real.query<Row>(text, values);
          // Longer than a claim is fresh.
          if (text.includes("update ledger set status = 'executing'") && late++ === 0) await sleep(2100);
          return rows;
        },
      },
      tools: [
        defineTool({
          name: "send",
          description: "Neither honours its key nor can be asked.",
          input: z.object({}),
          effect: "write",
          async execute() {
            if (++sent === 1) throw new Error("socket hang up");
            return "sent";
          },
        }),
      ],
      script: ({ messages }) => (messages.at(-1)!.role === "tool" ? "Sent." : [{ call: "send", arguments: {} }]),
    });
    t.after(() => service.stop(0));
    const { started } = await service.ask("go");
    const [question] = await service.approvals.questions(service.caller, started.runId);
    const input = { decision: "retry" as const };
    await service.approvals.decide(service.caller, started.runId, { questionId: question!.id, input });
    await until(async () => !["queued", "running"].includes((await rowOf(real, started.runId)).status), "its end");
    assert.equal((await rowOf(real, started.runId)).status, "done", "nobody is asked again");
    assert.deepEqual([sent, late], [2, 2]);
  });
}, "pglite");
