import assert from "node:assert/strict";
import { test } from "node:test";
import { countTransactions, transactions } from "./transactions.ts";
import { vanishingCases } from "./vanishing-cases.ts";

test("every transaction of the code says what it keeps locked, and how it is known that others go on without its node", () => {
  const told = Object.fromEntries(Object.entries(transactions).map(([file, rows]) => [file, rows.length]));
  assert.deepEqual(countTransactions(), told, "a transaction is new or gone: add its row to test/transactions.ts");
});

test("and each that is to be tried by a vanishing node is", () => {
  const named = Object.values(transactions).flatMap((rows) =>
    rows.flatMap(({ proof }) => ("vanish" in proof ? proof.vanish : [])),
  );
  assert.deepEqual(named.sort(), Object.keys(vanishingCases).sort());
});
