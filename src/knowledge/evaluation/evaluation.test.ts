import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { temporaryFolder } from "../../../test/pglite.ts";
import { evaluationRows, rankingOf, readEvaluation, wantedOf } from "./evaluation.ts";
import { bootstrap, ndcg, recall } from "./measures.ts";

const near = (value: number, expected: number) => assert.ok(Math.abs(value - expected) < 1e-9, `${value} ${expected}`);

describe("evaluation", () => {
  test("measures are what they are known to be", () => {
    const ranking = { gains: [0, 1, 0, 1], wanted: 3 };
    const best = 1 + 1 / Math.log2(3) + 0.5;
    near(ndcg(ranking, 10), (1 / Math.log2(3) + 1 / Math.log2(5)) / best);
    near(ndcg({ gains: [1, 1, 1], wanted: 3 }, 10), 1);
    near(ndcg({ gains: [0, 0, 1], wanted: 1 }, 2), 0);
    near(recall(ranking, 2), 1 / 3);
    near(recall(ranking, 10), 2 / 3);
    assert.equal(ndcg({ gains: [], wanted: 0 }, 10), 0);
    const { mean, low, high } = bootstrap(Array.from({ length: 400 }, (_, at) => at % 2));
    near(mean, 0.5);
    assert.ok(low > 0.44 && low < 0.46 && high > 0.54 && high < 0.56, `${low} ${high}`);
    assert.deepEqual(bootstrap([1, 0, 1]), bootstrap([1, 0, 1]));
  });

  test("a passage counts once, for the chunk that has at least half of it", () => {
    const wanted = [
      { documentId: "a", from: 100, to: 200 },
      { documentId: "b", from: 0, to: Infinity },
    ];
    const found = [
      { documentId: "a", charStart: 0, charEnd: 149 },
      { documentId: "c", charStart: 100, charEnd: 200 },
      { documentId: "a", charStart: 150, charEnd: 300 },
      { documentId: "a", charStart: 90, charEnd: 210 },
      { documentId: "b", charStart: 500, charEnd: 600 },
    ];
    assert.deepEqual(rankingOf(wanted, found), { gains: [0, 0, 1, 0, 1], wanted: 2 });
    const rows = evaluationRows(
      new Map([
        ["lexical" as const, [rankingOf(wanted, [])]],
        ["hybrid" as const, [rankingOf(wanted, found)]],
      ]),
    );
    assert.equal(rows[0]!.gain, undefined);
    near(rows[1]!.gain!.mean, rows[1]!["nDCG@10"].mean);
    near(rows[1]!["recall@100"].mean, 1);
  });

  test("what is expected stands in the documents of the set that comes with it", async () => {
    const folder = join(import.meta.dirname, "set");
    const { questions, documents, about } = await readEvaluation(folder);
    const texts = new Map<string, { id: string; text: string }>();
    for (const name of documents) {
      const text = await readFile(join(folder, "documents", name), "utf8");
      texts.set(name, { id: name, text });
    }
    assert.ok(questions.length >= 40 && about.licence);
    for (const question of questions) wantedOf(question, texts);
  });

  test("what is wrong with a set is told with its place", async () => {
    const folder = temporaryFolder("evaluation");
    await assert.rejects(readEvaluation(folder), /has no questions\.jsonl/);
    writeFileSync(join(folder, "questions.jsonl"), '\n{"question":"a","expected":[]}\n');
    await assert.rejects(readEvaluation(folder), /questions\.jsonl:2: /);
    writeFileSync(join(folder, "questions.jsonl"), "{");
    await assert.rejects(readEvaluation(folder), /questions\.jsonl:1: /);
    writeFileSync(join(folder, "questions.jsonl"), '{"question":"a","expected":[{"document":"d","quote":"x"}]}');
    mkdirSync(join(folder, "documents"));
    const { questions } = await readEvaluation(folder);
    assert.throws(() => wantedOf(questions[0]!, new Map()), /does not have/);
    assert.throws(() => wantedOf(questions[0]!, new Map([["d", { id: "d", text: "y" }]])), /does not stand in d/);
    writeFileSync(join(folder, "eval.json"), '{"settings":{"chunkSize":1}}');
    await assert.rejects(readEvaluation(folder), /eval\.json: /);
  });
});
