import assert from "node:assert/strict";
import { test } from "node:test";
import { readUserToken, signUserToken } from "./user-token.ts";

const path = "/mcp/todo";
const userId = "018f0000-0000-7000-8000-000000000001";

test("a token is good for its path, for a minute, and for whoever signed it", () => {
  const token = signUserToken("secret", { userId, path }, 1000);
  assert.match(token, /^cu_/);
  assert.equal(readUserToken("secret", token, { path, now: 1000 }), userId);
  assert.equal(readUserToken("secret", token, { path: "/mcp", now: 1000 }), undefined);
  assert.equal(readUserToken("secret", token, { path, now: 61_001 }), undefined);
  assert.equal(readUserToken("other", token, { path, now: 1000 }), undefined);
  for (const forged of ["", "cu_", "cu_.", `${token}x`, token.replace(/\..*/, ".x"), "ck_abc"])
    assert.equal(readUserToken("secret", forged, { path, now: 1000 }), undefined);
});
