import assert from "node:assert/strict";
import { test } from "node:test";
import { nearNames } from "./near-names.ts";

const known = ["add_task", "list_tasks", "complete_task", "update_task", "delete_task", "now"];

test("a typing error finds the name that was meant", () => {
  assert.equal(nearNames("add_tsak", known)[0], "add_task");
  assert.equal(nearNames("Add_Task", known)[0], "add_task");
  assert.equal(nearNames("nwo", known)[0], "now");
  assert.equal(nearNames("listtasks", known)[0], "list_tasks");
});

test("a part of a name finds the names that contain it", () => {
  assert.deepEqual(nearNames("task", known), ["add_task", "complete_task", "delete_task"]);
  assert.deepEqual(nearNames("task", known, 1), ["add_task"]);
});

test("another word finds nothing", () => {
  assert.deepEqual(nearNames("send_mail", known), []);
  assert.deepEqual(nearNames("", known), []);
});
