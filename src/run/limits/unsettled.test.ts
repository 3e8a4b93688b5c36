import assert from "node:assert/strict";
import { test } from "node:test";
import { eachRunDatabase, rowOf, until } from "../../../test/run-suite.ts";
import type { Script } from "../../models/demo/scripted.ts";

const limits = { steps: 1, tokens: 1_000_000, cost: 100 };
const hand = { call: "delegate", arguments: { agent: "worker", task: "Think." } };

eachRunDatabase(({ database, start }) => {
  const used = async (runId: string) =>
    (
      await database().query<{ is_open: boolean }>(
        "select steps, tokens, cost, strpos(unsettled::text, 'tokens') > 0 as is_open from budgets where root_run = $1",
        [runId],
      )
    )[0];

  for (const [what, given] of [
    [
      "a run",
      {
        steps: 1,
        script:
          (hangs): Script =>
          () =>
            hangs() ? [{ hang: true }] : "Done.",
      },
    ],
    [
      "a delegated run",
      {
        steps: 3,
        script:
          (hangs): Script =>
          ({ messages }) => {
            if (String(messages[0]!.content).startsWith("worker")) return hangs() ? [{ hang: true }] : "Thought.";
            return messages.at(-1)!.role === "tool" ? "Done." : [hand];
          },
      },
    ],
  ] satisfies [string, { steps: number; script: (hangs: () => boolean) => Script }][])
    test(`${what} whose process dies over a step: what it had reserved is given back to its limits`, async () => {
      let isDying = false;
      const service = await start({
        agent: { id: "assistant", instructions: "boss", tools: [], agents: ["worker"] },
        agents: [{ id: "worker", instructions: "worker", tools: [] }],
        limits: { ...limits, steps: given.steps },
        costOf: () => 1,
        script: given.script(() => isDying),
      });
      const undisturbed = await service.ask("go");
      assert.equal(undisturbed.text, "Done.");
      const expected = await used(undisturbed.started.runId);
      assert.equal(expected!.is_open, false);
      const before = service.model.requests.length;

      isDying = true;
      const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
      await until(() => service.model.requests.length === before + (before === 1 ? 1 : 2), "the step that hangs");
      isDying = false;
      const { job_id } = await rowOf(database(), started.runId);
      await database().query("update pgboss.job set state = 'retry', start_after = now() where id = $1", [job_id]);
      const events = await service.events(started);
      const last = events.at(-1)!;
      assert.deepEqual(last.type === "run-end" && [last.status, last.error], ["done", undefined]);
      assert.equal((await rowOf(database(), started.runId)).epoch, 2);
      assert.deepEqual(await used(started.runId), expected);
    });
});
