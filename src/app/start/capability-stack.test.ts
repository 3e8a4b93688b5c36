import assert from "node:assert/strict";
import { test } from "node:test";
import type { Finding } from "../../protocol/people/overview.ts";
import { silentLog } from "../../protocol/base/log.ts";
import { type Capability, createCapabilityStack, findingsOf, healthOf } from "./capability-stack.ts";

function watched() {
  const closed: string[] = [];
  const warnings: unknown[] = [];
  const log = { ...silentLog, warn: (...words: unknown[]) => void warnings.push(words) };
  const part = (name: string): Capability => ({
    findings: () => [{ grade: "ok", about: name, text: "is open" } satisfies Finding],
    health: () => ({ [name]: "open" }),
    close: async () => void closed.push(name),
  });
  return { closed, warnings, log, part };
}

test("parts are closed in reverse, each when the one behind it has closed, and once", async () => {
  const { closed, log, part } = watched();
  const opening = createCapabilityStack(log);
  opening.add(part("first"));
  opening.add({
    async close() {
      await new Promise((resolve) => setImmediate(resolve));
      closed.push("slow");
    },
  });
  opening.add({});
  opening.add(part("last"));
  const close = opening.done();
  await opening[Symbol.asyncDispose]();
  assert.deepEqual(closed, []);
  await Promise.all([close(), close()]);
  assert.deepEqual(closed, ["last", "slow", "first"]);
});

test("a part that fails to close is logged, and keeps no other from closing", async () => {
  const { closed, warnings, log, part } = watched();
  const opening = createCapabilityStack(log);
  opening.add(part("first"));
  opening.add({
    close() {
      throw new Error("thrown");
    },
  });
  opening.add({ close: () => Promise.reject(new Error("rejected")) });
  await opening.done()();
  assert.deepEqual(closed, ["first"]);
  assert.deepEqual(
    warnings,
    ["rejected", "thrown"].map((error) => [{ error }, "could not close everything"]),
  );
});

test("a start that fails half-way closes what was open, and throws its own error whatever happens there", async () => {
  const { closed, warnings, log, part } = watched();
  async function openAll() {
    await using opening = createCapabilityStack(log);
    opening.add(part("first"));
    opening.add({ close: () => Promise.reject(new Error("rejected")) });
    await Promise.reject(new Error("no start"));
    opening.add(part("never"));
    return { close: opening.done() };
  }
  await assert.rejects(openAll(), { message: "no start" });
  assert.deepEqual(closed, ["first"]);
  assert.equal(warnings.length, 1);
});

test("doctor and health hear of every part that was added, in the order that is asked for", async () => {
  const { log, part } = watched();
  const { add, partsFrom } = createCapabilityStack(log);
  const [store, added, runs] = ["store", "added", "runs"].map((name) => add(part(name)));
  add({});
  assert.deepEqual(partsFrom([]).slice(0, 3), [store, added, runs]);
  const parts = partsFrom([runs!, store!]);
  assert.deepEqual(
    (await findingsOf(parts, { all: false })).map(({ about }) => about),
    ["runs", "store", "added"],
  );
  assert.deepEqual(Object.keys(healthOf(parts)), ["runs", "store", "added"]);
});
