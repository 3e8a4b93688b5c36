import assert from "node:assert/strict";
import { test } from "node:test";
import { createStatementNames } from "./statement-names.ts";

test("a statement gets its name at its second use and keeps it", () => {
  const names = createStatementNames();
  assert.equal(names.of("select $1"), undefined);
  const name = names.of("select $1");
  assert.ok(name);
  assert.equal(names.of("select $1"), name);
  names.of("select $2");
  assert.notEqual(names.of("select $2"), name);
});

test("any number of different statements takes no more than a bounded place, and those in use keep theirs", () => {
  const names = createStatementNames();
  const hot = (): string | undefined => names.of("hot");
  hot();
  const name = hot();
  for (let index = 0; index < 1000; index++) names.of(`once ${index}`);
  const given = new Set<string>();
  for (let index = 0; index < 1000; index++) {
    names.of(`twice ${index}`);
    const second = names.of(`twice ${index}`);
    if (second) given.add(second);
  }
  assert.ok(given.size < 200);
  assert.equal(hot(), name);
});

test("after a renewal the names are others", () => {
  const names = createStatementNames();
  names.of("a");
  const before = names.of("a");
  names.renew();
  names.of("a");
  const after = names.of("a");
  assert.ok(after);
  assert.notEqual(after, before);
});
