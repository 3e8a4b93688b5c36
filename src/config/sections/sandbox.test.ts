import assert from "node:assert/strict";
import { test } from "node:test";
import { sandboxSchema } from "./sandbox.ts";

test("hosts are names, all names below one, addresses and ranges, each with a port or without", () => {
  const takes = (entry: string) => sandboxSchema.safeParse({ network: { allow: [entry] } }).success;
  const yes =
    "pypi.org *.pythonhosted.org localhost:8080 10.0.0.0/8 10.0.0.0/8:8080 ::1 fd00::/8 [::1]:80 [fd00::/8]:81";
  for (const entry of yes.split(" ")) assert.ok(takes(entry), entry);
  for (const entry of ["", "*", "http://pypi.org", "pypi.org/simple", "a.*.org", "user@pypi.org", "a b"])
    assert.ok(!takes(entry), entry);
});
