import assert from "node:assert/strict";
import { test } from "node:test";
import { similarNames } from "./similar-names.ts";

const known = ["add_task", "list_tasks", "complete_task", "update_task", "delete_task", "now"];

test("a typing error finds the name that was meant", () => {
  assert.equal(similarNames("add_tsak", known)[0], "add_task");
  assert.equal(similarNames("Add_Task", known)[0], "add_task");
  assert.equal(similarNames("nwo", known)[0], "now");
  assert.equal(similarNames("listtasks", known)[0], "list_tasks");
});

test("a part of a name finds the names that contain it", () => {
  assert.deepEqual(similarNames("task", known), ["add_task", "complete_task", "delete_task"]);
  assert.deepEqual(similarNames("task", known, 1), ["add_task"]);
});

test("another word finds nothing", () => {
  assert.deepEqual(similarNames("send_mail", known), []);
  assert.deepEqual(similarNames("", known), []);
});
