import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelCallRecord } from "../../protocol/agents/models.ts";
import { createCallLog } from "./call-log.ts";

const record = (id: number, runId: string | null = null) => ({ id: String(id), runId }) as ModelCallRecord;

test("records leave in batches; those of runs are not ours; close writes the rest", async () => {
  const batches: string[][] = [];
  const log = createCallLog({
    write: async (records) => void batches.push(records.map(({ id }) => id)),
    everyMs: 60_000,
    batch: 3,
  });
  for (let id = 0; id < 4; id++) log.add(record(id));
  log.add(record(9, "run"));
  await log.close();
  assert.deepEqual(batches, [["0", "1", "2"], ["3"]]);
});

test("after a failure the records are tried again; too many drop the oldest, and that is told", async () => {
  const warned: object[] = [];
  const quiet = () => undefined;
  let fail = true;
  const written: string[] = [];
  const first = Promise.withResolvers<void>();
  const log = createCallLog({
    write: async (records) => {
      if (fail) {
        first.resolve();
        throw new Error("the store is away");
      }
      written.push(...records.map(({ id }) => id));
    },
    everyMs: 60_000,
    batch: 2,
    most: 3,
    log: { debug: quiet, info: quiet, warn: (fields) => warned.push(fields), error: quiet },
  });
  log.add(record(0));
  log.add(record(1));
  await first.promise;
  log.add(record(2));
  log.add(record(3));
  fail = false;
  await log.close();
  assert.deepEqual(written, ["1", "2", "3"]);
  assert.ok(warned.some((fields) => "dropped" in fields && fields.dropped === 1));
});
