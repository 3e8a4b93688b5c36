import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { call } from "./call.ts";
import { startTaiga } from "./server.ts";

const taiga = await startTaiga();
after(() => taiga.close());
beforeEach(() => taiga.reset());

const patch = (body: object, what = "/userstories/1") => call(taiga, `PATCH ${what}`, { as: "bruno", body });
const stale = { version: "The version doesn't match with the current one" };

test("a version is needed, and one from the future or below nothing is refused", async () => {
  for (const version of [undefined, null, -1, 2]) {
    const { status, body } = await patch({ subject: "Changed", version });
    assert.deepEqual([status, body], [400, { version: "The version parameter is not valid" }], String(version));
  }
  const word = await patch({ subject: "Changed", version: "one" });
  assert.deepEqual([word.status, word.body], [400, { version: "The version must be an integer" }]);
  assert.equal(taiga.state.story(1).version, 1);
});

test("the current version is taken and counts up", async () => {
  const first = await patch({ subject: "Changed", version: 1 });
  assert.deepEqual([first.status, first.body["version"], first.body["subject"]], [200, 2, "Changed"]);
  assert.equal((await patch({ subject: "Again", version: "2" })).body["version"], 3);
});

test("an old version with the same fields is a conflict: 400", async () => {
  taiga.state.edit(taiga.state.story(1), { subject: "Changed by somebody else" });
  const { status, body } = await patch({ subject: "Changed", version: 1 });
  assert.deepEqual([status, body], [400, stale]);
});

test("an old version with other fields is merged", async () => {
  taiga.state.edit(taiga.state.story(1), { subject: "Changed by somebody else" });
  const { status, body } = await patch({ description: "More", version: 1 });
  assert.deepEqual([status, body["version"]], [200, 3]);
  assert.deepEqual([body["subject"], body["description"]], ["Changed by somebody else", "More"]);
});

test("all that was changed since counts, not only the last change", async () => {
  const story = taiga.state.story(1);
  taiga.state.edit(story, { subject: "First" });
  taiga.state.edit(story, { description: "Second" });
  assert.deepEqual((await patch({ subject: "Mine", version: 1 })).body, stale);
  assert.equal((await patch({ subject: "Mine", version: 2 })).status, 200);
});

test("external references never conflict: the last one wins", async () => {
  taiga.state.edit(taiga.state.story(1), { external_reference: ["theirs", "1"] });
  const { status, body } = await patch({ external_reference: ["ours", "2"], version: 1 });
  assert.deepEqual([status, body["external_reference"]], [200, ["ours", "2"]]);
});

test("tasks have versions too", async () => {
  taiga.state.edit(taiga.state.task(1), { status: 2 });
  assert.deepEqual((await patch({ status: 3, version: 1 }, "/tasks/1")).body, stale);
  assert.equal((await patch({ status: 3, version: 2 }, "/tasks/1")).body["version"], 3);
});

test("rights are looked at before fields, fields before the version", async () => {
  const refused = await call(taiga, "PATCH /userstories/1", { as: "sam", body: { subject: "Changed" } });
  assert.equal(refused.status, 403);
  const wrong = await patch({ milestone: 99 });
  assert.deepEqual(wrong.body, { milestone: ["Invalid pk '99' - object does not exist."] });
});

test("PUT wants the subject as well", async () => {
  const put = await call(taiga, "PUT /userstories/1", { as: "bruno", body: { description: "More", version: 1 } });
  assert.deepEqual([put.status, put.body], [400, { subject: ["This field is required."] }]);
});
