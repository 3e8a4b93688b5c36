import assert from "node:assert/strict";
import { test } from "node:test";
import { createPace } from "./pace.ts";

test("few followers are told at once", () => {
  let told = 0;
  const pace = createPace(
    () => told++,
    () => 0,
  );
  const thread = {};
  for (let piece = 0; piece < 3; piece++) pace.soon(thread);
  assert.equal(told, 3);
});

test("many are told the first piece at once, and what follows together", async () => {
  const waited = Promise.withResolvers<void>();
  const told: object[] = [];
  const pace = createPace(
    (thread) => {
      told.push(thread);
      if (told.length === 4) waited.resolve();
    },
    () => 100,
  );
  const [one, other] = [{}, {}];
  for (let piece = 0; piece < 50; piece++) for (const thread of [one, other]) pace.soon(thread);
  assert.deepEqual(told, [one, other]);
  await waited.promise;
  assert.deepEqual(told, [one, other, one, other]);
  pace.close();
});

test("nobody is told after the end", async () => {
  let told = 0;
  const pace = createPace(
    () => told++,
    () => 10,
  );
  const thread = {};
  pace.soon(thread);
  pace.soon(thread);
  pace.close();
  const later = Promise.withResolvers<void>();
  setTimeout(later.resolve, 20);
  await later.promise;
  assert.equal(told, 1);
});
