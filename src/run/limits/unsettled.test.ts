import assert from "node:assert/strict";
import { test } from "node:test";
import { shortOutages } from "../../../test/runs.ts";
import { markCancelled } from "../../../test/cancel-asked.ts";
import { eachRunDatabase, rowOf, until, passOn } from "../../../test/run-suite.ts";
import type { Script } from "../../models/demo/scripted.ts";
import { newId } from "../../protocol/base/ids.ts";
import { takeOver } from "../../../test/run-rows.ts";

const limits = { steps: 1, tokens: 1_000_000, cost: 100 };
const hand = { call: "delegate", arguments: { agent: "worker", task: "Think." } };

eachRunDatabase(({ database, start }) => {
  const used = async (runId: string) =>
    (
      await database().query<{ steps: number; tokens: number; cost: number; is_open: boolean }>(
        "select steps, tokens, cost, unsettled <> '{}' as is_open from budgets where root_run = $1",
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
      await passOn(database(), started.runId);
      const events = await service.events(started);
      const last = events.at(-1)!;
      assert.deepEqual(last.type === "run-end" && [last.status, last.error], ["done", undefined]);
      assert.equal((await rowOf(database(), started.runId)).epoch, 2);
      assert.deepEqual(await used(started.runId), expected);
    });

  /** A run whose delegated run hangs in its step, and what was used before that. */
  const startHanging = async () => {
    const service = await start({
      agent: { id: "assistant", instructions: "boss", tools: [], agents: ["worker"] },
      agents: [{ id: "worker", instructions: "worker", tools: [] }],
      limits: { ...limits, steps: 3 },
      costOf: () => 1,
      script: ({ messages }) => (String(messages[0]!.content).startsWith("worker") ? [{ hang: true }] : [hand]),
    });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
    await until(() => service.model.requests.length === 2, "the step that hangs");
    const [child] = await database().query<{ id: string; epoch: number; node: string }>(
      "select id, epoch, node from runs where parent_run = $1",
      [started.runId],
    );
    const [own] = await database().query<{ tokens: number; cost: number }>(
      "select sum(input_tokens + output_tokens)::float8 as tokens, sum(cost) as cost from model_calls where run_id = $1",
      [started.runId],
    );
    return { service, runId: started.runId, child: child!, before: { steps: 1, ...own!, is_open: false } };
  };

  test("a run that is ended from above gives back what it had reserved", async () => {
    const { service, runId, before } = await startHanging();
    assert.equal((await used(runId))!.is_open, true);
    // As its process leaves it when it gives it up.
    await database().query("update runs set epoch = epoch + 1, status = 'queued', handed_over = true where id = $1", [
      runId,
    ]);
    await service.runs.cancel(service.caller, runId);
    assert.deepEqual(await used(runId), before);
  });

  for (const where of ["in the process that died", "elsewhere"] as const)
    test(`a run at work ${where}, as its root is taken: ${where === "elsewhere" ? "it goes on, and keeps" : "it is over, and gives back"} what it had reserved`, async () => {
      const { runId, child, before } = await startHanging();
      if (where === "elsewhere")
        await database().query(
          `with n as (insert into nodes (id, seen_at) values ($2, now() + interval '1 hour')) update runs set node = $2 where id = $1`,
          [child.id, newId()],
        );
      assert.ok(await takeOver(database(), runId));
      const { epoch } = await rowOf(database(), child.id);
      if (where === "elsewhere") assert.deepEqual([epoch, (await used(runId))!.is_open], [child.epoch, true]);
      else assert.deepEqual([epoch, await used(runId)], [child.epoch + 1, before]);
    });

  for (const [what, error, onLimit] of [
    ["an outage", "cut", "stop"],
    ["a limit", "hang", "pause"],
  ] as const)
    test(`a run that is cancelled as it would wait at ${what} keeps what its last step cost`, async () => {
      const service = await start({
        tools: [markCancelled],
        limits: { ...limits, steps: 3, onLimit, ...(error === "hang" ? { deadlineSeconds: 0.5 } : {}) },
        outages: { ...shortOutages, retryMs: 0 },
        costOf: () => 1,
        script: [
          [{ call: "mark", arguments: {} }],
          [{ text: "half of it" }, error === "hang" ? { hang: true } : { error }],
        ],
      });
      const { started, events } = await service.ask("go");
      const last = events.at(-1)!;
      assert.equal(last.type === "run-end" && last.status, "cancelled");
      const calls = await database().query("select 1 from model_calls where run_id = $1", [started.runId]);
      assert.equal(calls.length, 2, "the call log");
      const { steps, cost, is_open } = (await used(started.runId))!;
      assert.deepEqual({ steps, cost, is_open }, { steps: 2, cost: 2, is_open: false });
    });
});
