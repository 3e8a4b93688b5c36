import assert from "node:assert/strict";
import { test } from "node:test";
import { callLine } from "./lines.ts";

test("a call is told as run, in the words of a shell where it is a command; what a fork keeps, as kept", () => {
  const call = { name: "shell", arguments: '{"cmd":"ls"}' };
  assert.equal(callLine(call), "Running: ls");
  assert.equal(callLine({ name: "now", arguments: "{}" }), "Running: now");
  assert.equal(callLine({ ...call, kept: "018f" }), "Kept from run 018f: ls");
});
