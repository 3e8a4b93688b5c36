import assert from "node:assert/strict";
import { test } from "node:test";
import { readTicket, signTicket } from "./ticket.ts";

const ticket = { for: "begin", userId: "u1", server: "mail", until: Date.now() + 60_000 } as const;

test("a ticket is read with the same secret, for what it was made, until it ends", () => {
  const signed = signTicket("secret", ticket);
  assert.deepEqual(readTicket("secret", signed, "begin"), ticket);
  assert.equal(readTicket("other", signed, "begin"), undefined);
  assert.equal(readTicket("secret", signed, "return"), undefined);
  assert.equal(readTicket("secret", signTicket("secret", { ...ticket, until: Date.now() - 1 }), "begin"), undefined);
  assert.equal(readTicket("secret", `${signed}x`, "begin"), undefined);
  assert.equal(readTicket("secret", "nonsense", "begin"), undefined);
});
