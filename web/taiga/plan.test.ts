import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlannedWrite } from "../../src/protocol/agents/tools.ts";
import { choiceOf, choiceFromPlan, applyEdits, noEdits, outlineOf } from "./plan.ts";

const writes: readonly PlannedWrite[] = [
  { id: "new:1", tool: "taiga_create_user_story", arguments: { subject: "One", milestone_id: 3 } },
  { id: "new:2", tool: "taiga_create_task", arguments: { subject: "Of one", user_story_id: "new:1" } },
  { id: "new:3", tool: "taiga_create_task", arguments: { subject: "Of what is there", user_story_id: 7 } },
  { id: "new:4", tool: "taiga_update_task", arguments: { task_id: "new:2", description: "More" } },
];
const ids = (some: readonly PlannedWrite[]) => some.map(({ id }) => id);

test("new tasks stand beneath their new story, all else by itself", () => {
  const { stories, others } = outlineOf(writes);
  assert.deepEqual(
    stories.map(({ write, tasks }) => [write.id, ids(tasks)]),
    [["new:1", ["new:2"]]],
  );
  assert.deepEqual(ids(others), ["new:3", "new:4"]);
});

test("what needs something that is left out is left out too", () => {
  assert.deepEqual(ids(applyEdits(writes, { leftOut: ["new:1"], texts: {} })), ["new:3"]);
  assert.deepEqual(ids(applyEdits(writes, { leftOut: ["new:4"], texts: {} })), ["new:1", "new:2", "new:3"]);
});

test("a choice is sent only where something differs, and is read back as it was sent", () => {
  assert.equal(choiceOf(writes, noEdits), undefined);
  assert.equal(choiceOf(writes, { leftOut: [], texts: { "new:1": { description: "" } } }), undefined);
  const texts = { "new:1": { subject: "First", description: "Why" }, "new:4": { description: "" } };
  const choice = choiceOf(writes, { leftOut: ["new:3"], texts });
  const chosen = choiceFromPlan(writes, choice);
  assert.deepEqual(ids(chosen), ["new:1", "new:2", "new:4"]);
  assert.deepEqual(chosen[0]?.arguments, { subject: "First", description: "Why", milestone_id: 3 });
  assert.deepEqual(chosen[2]?.arguments, { task_id: "new:2", description: "" });
});
