import assert from "node:assert/strict";
import { test } from "node:test";
import { cutBack, type Caller } from "./callers.ts";

const caller = (permissions: readonly string[]): Caller => ({
  userId: "u",
  name: "ada",
  role: "admin",
  permissions,
  via: "api-key",
});

test("who was an admin and is none now, may no more than a user", () => {
  assert.deepEqual(cutBack(caller(["*"]), "user").permissions, []);
  assert.deepEqual(cutBack(caller(["mail"]), "user").permissions, []);
  assert.equal(cutBack(caller(["*"]), "user").role, "user");
});

test("who has become an admin gains nothing for what was begun before", () => {
  assert.deepEqual(cutBack(caller(["mail"]), "admin").permissions, ["mail"]);
  assert.deepEqual(cutBack(caller(["*"]), "admin").permissions, ["*"]);
});

test("where a caller works elsewhere stays with what was begun, whatever his role is now", () => {
  const begun = { ...caller(["*"]), elsewhere: { taiga: { place: "app", as: "t" } }, run: "r" };
  for (const role of ["admin", "user"] as const) {
    const { elsewhere, run } = cutBack(begun, role);
    assert.deepEqual({ elsewhere, run }, { elsewhere: begun.elsewhere, run: "r" });
  }
});
