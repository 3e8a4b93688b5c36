import assert from "node:assert/strict";
import { test } from "node:test";
import { createLook, memoryOfProcess } from "./idle-memory.ts";

test("garbage is collected when a server idles, once for what it has grown by", () => {
  let cpu = 0;
  let heap = 100;
  let collected = 0;
  const look = createLook({
    cpuMs: () => cpu,
    heapBytes: () => heap,
    collect: () => {
      collected++;
      heap = 110;
    },
  });
  const after = (work: number, size: number): number => {
    cpu += work;
    heap = size;
    look(1000);
    return collected;
  };
  assert.equal(after(10, 140), 0, "it has hardly grown");
  assert.equal(after(600, 300), 0, "it is at work");
  assert.equal(after(10, 300), 1, "it has grown, and idles");
  assert.equal(after(10, 110), 1, "there is nothing more to collect");
  assert.equal(after(10, 160), 1, "what is left is the measure from now on");
  assert.equal(after(10, 170), 2);
});

test("a collection gives the heap back", () => {
  const { collect, heapBytes } = memoryOfProcess();
  let garbage: string[] | undefined = Array.from({ length: 500_000 }, (_, index) => `text number ${index}`);
  assert.equal(garbage.length, 500_000);
  const before = heapBytes();
  garbage = undefined;
  collect();
  assert.ok(heapBytes() < before - 10e6, `${before} bytes before, ${heapBytes()} after`);
});
