import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freshDataDirectory } from "../../test/pglite.ts";
import { startTestRuns, type TestRuns } from "../../test/runs.ts";
import { until } from "../../test/run-suite.ts";
import type { ScriptAnswer } from "../../src/models/demo/scripted.ts";
import type { RunEvent } from "../../src/protocol/threads/events.ts";
import { openDatabase } from "../../src/store/driver/open.ts";
import { createTurns, type Turns } from "./turns.ts";

let answers: ScriptAnswer[] = [];
let service: TestRuns;
let close: () => Promise<void>;
before(async () => {
  const database = await openDatabase({ dataDirectory: await freshDataDirectory() });
  service = await startTestRuns({ database, script: () => answers.shift() ?? "nothing more" });
  close = async () => {
    await service.stop(0);
    await database.close();
  };
});
after(() => close());

/** Each turn of the branch that is shown, as it stands in the tree; turns are named by their places. */
function treeOf(turns: Turns) {
  const branch = [...turns.upFrom(turns.head())].reverse();
  const placeOf = (turn: string | null) => branch.findIndex(({ id }) => id === turn);
  return branch.map((turn) => ({
    parent: placeOf(turn.parent),
    beside: turns.beside(turn).map(({ id }) => placeOf(id)),
    blocks: turn.blocks.map((block) => [block.kind, block.key, "text" in block ? block.text : ""]),
  }));
}

/** What somebody sees who follows, and what they see once they have loaded the page again. */
async function talk({ isStopped = false } = {}) {
  const { runs, threads, caller } = service;
  const held = Promise.withResolvers<void>();
  answers[answers.length - 1] = [{ text: "half of it, " }, { gate: () => held.promise }, { text: "and the rest" }];
  answers.push("the second is heard");
  const started = await runs.start(caller, { agent: "assistant", message: { content: "one" } });
  const live = createTurns();
  const seen: RunEvent[] = [];
  const follower = runs.follow(started, started.cursor, {
    events(batch) {
      for (const event of batch) live.apply(event);
      seen.push(...batch);
    },
    error(error) {
      throw error;
    },
  });
  const shows = (text: string) => until(() => JSON.stringify(treeOf(live)).includes(text), text);
  await shows("half of it");
  await runs.steer(caller, started.runId, { content: "wait, this" });
  await shows("wait, this");
  const meanwhile = treeOf(live);
  if (isStopped) await runs.cancel(caller, started.runId);
  held.resolve();
  await until(() => seen.at(-1)?.type === "run-end", "the end");
  follower.close();
  const read = createTurns();
  for (const item of await threads.listItems(caller, started.threadId, {})) read.read(item);
  return { run: started.runId, meanwhile, live: treeOf(live), read: treeOf(read) };
}

for (const isStopped of [false, true])
  test(`what is said while an answer is written stands before it, live as in the log${isStopped ? ", also of one that is stopped" : ""}`, async () => {
    answers = [""];
    const { run, meanwhile, live, read } = await talk({ isStopped });
    assert.deepEqual(live, read);
    assert.deepEqual(
      meanwhile.map(({ beside }) => beside),
      [[0], [1], [2]],
    );
    assert.deepEqual(meanwhile[2]!.blocks, [["message", `${run}/1`, "half of it, "]]);
  });

test("what the agent has done before stays before it", async () => {
  answers = [[{ call: "add_task", arguments: { title: "Milk" } }, { finish: "calls" }], ""];
  const { run, meanwhile, live, read } = await talk();
  assert.deepEqual(live, read);
  assert.deepEqual(
    meanwhile.map(({ beside }) => beside),
    [[0], [1], [2], [3]],
  );
  assert.deepEqual(meanwhile[3]!.blocks, [["message", `${run}/2`, "half of it, "]]);
});
