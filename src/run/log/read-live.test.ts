import assert from "node:assert/strict";
import { test } from "node:test";
import { eachRunDatabase, until, watch } from "../../../test/run-suite.ts";
import { startTestRuns, textIn } from "../../../test/runs.ts";
import type { Database } from "../../store/driver/database.ts";
import { joinPieces } from "./read-live.ts";

test("pieces are joined behind what is known, up to a gap", () => {
  assert.deepEqual(
    joinPieces(3, [
      [3, "de"],
      [5, "f"],
    ]),
    { text: "def", hasGap: false },
  );
  assert.deepEqual(
    joinPieces(3, [
      [0, "abcd"],
      [4, "e"],
    ]),
    { text: "de", hasGap: false },
  );
  assert.deepEqual(
    joinPieces(3, [
      [0, "ab"],
      [3, "d"],
      [5, "f"],
    ]),
    { text: "d", hasGap: true },
  );
  assert.deepEqual(joinPieces(3, []), { text: "", hasGap: false });
});

/** The same database, but the caller sees each answer of a statement, and may lose it. */
function watched(database: Database, answered: (text: string, rows: readonly unknown[]) => void): Database {
  const query: Database["query"] = async (text, values) => {
    const rows = await database.query<Record<string, unknown>>(text, values);
    answered(text, rows);
    return rows as never;
  };
  return { ...database, query };
}

const words = Array.from({ length: 12 }, (_, n) => `${n}: ${"word ".repeat(40)}`);

eachRunDatabase((suite) => {
  test("another node reads live text once, however long it grows, and its message", async () => {
    const gates = words.map(() => Promise.withResolvers<void>());
    const one = await suite.start({
      script: [words.flatMap((text, n) => [{ gate: () => gates[n]!.promise }, { text }])],
    });
    const started = await one.runs.start(one.caller, { agent: "assistant", message: { content: "hi" } });
    let read = 0;
    const database = watched(suite.database(), (_, rows) => (read += JSON.stringify(rows).length));
    const two = await startTestRuns({ database, script: [], runsJobs: false });
    const watching = watch(two, started);
    for (const [n] of words.entries()) {
      gates[n]!.resolve();
      const text = words.slice(0, n + 1).join("");
      if (n < words.length - 1) await until(() => textIn(watching.seen) === text, `piece ${n}`);
    }
    await until(() => watching.seen.some(({ type }) => type === "run-end"), "the end");
    watching.close();
    await two.stop(0);
    const { length } = words.join("");
    assert.equal(textIn(watching.seen).length, length);
    assert.ok(read < 4 * length, `${read} characters were read for ${length}`);
  });

  test("a piece that is written once more and longer, as its first write was not heard of, leaves no gap", async () => {
    const gates = words.map(() => Promise.withResolvers<void>());
    let lost = 0;
    const database = watched(suite.database(), (text) => {
      if (!text.includes("insert into deltas") || lost++ > 0) return;
      gates[1]!.resolve();
      throw new Error("the connection was lost");
    });
    const one = await startTestRuns({
      database,
      script: [words.slice(0, 4).flatMap((text, n) => [{ gate: () => gates[n]!.promise }, { text }])],
    });
    const started = await one.runs.start(one.caller, { agent: "assistant", message: { content: "hi" } });
    const two = await suite.start({ script: [], runsJobs: false });
    const watching = watch(two, started);
    gates[0]!.resolve();
    await until(() => textIn(watching.seen).startsWith(words[0]!), "the first piece");
    await until(() => lost > 1, "the second write");
    gates[2]!.resolve();
    await until(() => textIn(watching.seen) === words.slice(0, 3).join(""), "the third piece");
    gates[3]!.resolve();
    await until(() => watching.seen.some(({ type }) => type === "run-end"), "the end");
    watching.close();
    await one.stop(0);
    assert.equal(textIn(watching.seen), words.slice(0, 4).join(""));
  });
}, "postgres");
