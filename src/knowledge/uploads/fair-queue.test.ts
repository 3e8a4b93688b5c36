import assert from "node:assert/strict";
import { test } from "node:test";
import { createFairQueue } from "./fair-queue.ts";

test("one person's many works do not keep another's waiting for all of them", async () => {
  const queue = createFairQueue(2);
  const order: string[] = [];
  const ends: (() => void)[] = [];
  let atOnce = 0;
  const add = (who: string, name: string) =>
    queue(who, async () => {
      order.push(name);
      atOnce++;
      await new Promise<void>((resolve) => ends.push(resolve));
      atOnce--;
    });
  const all = [
    add("ann", "a1"),
    add("ann", "a2"),
    add("ann", "a3"),
    add("ann", "a4"),
    add("bob", "b1"),
    add("bob", "b2"),
  ];
  for (let ended = 0; ended < all.length; ended++) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    assert.ok(atOnce <= 2);
    ends.shift()!();
  }
  await Promise.all(all);
  assert.deepEqual(order, ["a1", "a2", "b1", "a3", "b2", "a4"]);
});

test("a work that fails makes place", async () => {
  const queue = createFairQueue(1);
  await assert.rejects(
    queue("ann", () => Promise.reject(new Error("no"))),
    /no/,
  );
  assert.equal(await queue("bob", () => Promise.resolve(1)), 1);
});
