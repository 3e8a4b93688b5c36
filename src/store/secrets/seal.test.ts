import assert from "node:assert/strict";
import { test } from "node:test";
import { seal, unseal } from "./seal.ts";

test("a sealed text opens with the same secret and for the same thing, and never looks the same", () => {
  const [one, other] = [seal("secret", "grüß", "run 1"), seal("secret", "grüß", "run 1")];
  assert.notEqual(one, other);
  assert.ok(!Buffer.from(one, "base64url").toString("latin1").includes("gr"));
  assert.equal(unseal("secret", one, "run 1"), "grüß");
  assert.equal(unseal("secret", other, "run 1"), "grüß");
  assert.equal(unseal("secret", seal("secret", "", "x"), "x"), "");
});

test("with another secret, for another thing, or changed, it does not open", () => {
  const sealed = seal("secret", "token", "run 1");
  assert.equal(unseal("other", sealed, "run 1"), undefined);
  assert.equal(unseal("secret", sealed, "run 2"), undefined);
  const bytes = Buffer.from(sealed, "base64url");
  bytes[bytes.length - 1]! ^= 1;
  assert.equal(unseal("secret", bytes.toString("base64url"), "run 1"), undefined);
  assert.equal(unseal("secret", "short", "run 1"), undefined);
});
