import assert from "node:assert/strict";
import test from "node:test";
import { createScripted } from "../../models/demo/scripted.ts";
import { createModels } from "../../models/registry.ts";
import { withRoomVoice } from "./room-voice.ts";

async function hear(...pieces: readonly string[]): Promise<{ pieces: string[]; passed: boolean }> {
  const models = createModels({ models: [], adapters: { script: createScripted([pieces.map((text) => ({ text }))]) } });
  const model = models.get("script");
  const listened = withRoomVoice(model, { name: "data", pass: "[pass]" });
  const heard: string[] = [];
  for await (const parts of listened.model.stream({ messages: [] }, new AbortController().signal))
    for (const part of parts) if (part.type === "text") heard.push(part.text);
  await models.close();
  return { pieces: heard, passed: listened.passed() };
}

test("what is said comes as it is", async () => {
  assert.deepEqual(await hear("Good, ", "we have [pass] in it"), {
    pieces: ["Good, ", "we have [pass] in it"],
    passed: false,
  });
});

test("a pass is held back, in whatever pieces it comes", async () => {
  for (const pieces of [["[pass]"], ["[", "pa", "ss", "]"], [" [Pass]", ".\n"], ["[@data]: ", "[pass]"]])
    assert.deepEqual(await hear(...pieces), { pieces: [], passed: true }, pieces.join("|"));
});

test("what only begins like one is told", async () => {
  assert.deepEqual(await hear("[pa", "rt 1]"), { pieces: ["[part 1]"], passed: false });
  assert.deepEqual(await hear("[pass]", " on this one, but look at line 3"), {
    pieces: ["[pass] on this one, but look at line 3"],
    passed: false,
  });
  assert.deepEqual(await hear("[pa"), { pieces: ["[pa"], passed: false });
});

test("the speaker's own name is left out", async () => {
  assert.deepEqual(await hear("[@da", "ta]: Sure", "!"), { pieces: ["Sure", "!"], passed: false });
  assert.deepEqual(await hear("[@code]: Sure"), { pieces: ["[@code]: Sure"], passed: false });
});
