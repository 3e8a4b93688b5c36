import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { anyRunDatabase } from "../../../test/run-suite.ts";
import type { Limits } from "../../protocol/agents/agents.ts";
import type { ScriptAnswer } from "../../models/demo/scripted.ts";
import { defineTool } from "../../tools/core/define-tool.ts";

anyRunDatabase((suite) => {
  async function run(script: readonly ScriptAnswer[], limits: Partial<Limits> = {}) {
    const made: string[] = [];
    const make = defineTool({
      name: "make",
      description: "Makes.",
      input: z.object({ what: z.string().trim(), how: z.string().default("well") }),
      effect: "write",
      sameIntent: true,
      execute({ what }) {
        made.push(what);
        if (what === "glass" && made.length === 1) return { content: "it broke", isError: true };
        return { content: `made ${what} ${made.length}`, data: { id: made.length } };
      },
    });
    const destroy = defineTool({
      name: "destroy",
      description: "Destroys.",
      input: z.object({}),
      effect: "write",
      destructive: true,
      unasked: true,
      execute: () => "gone",
    });
    const service = await suite.start({ script, limits, tools: [make, destroy] });
    const { events, started } = await service.ask("go");
    const results = events.flatMap((event) => (event.type === "call-end" ? [event.item.body] : []));
    const last = events.at(-1)!;
    const rows = await suite.database().query("select 1 from ledger where run_id = $1", [started.runId]);
    const [budget] = await suite
      .database()
      .query<{ calls: number }>("select calls from budgets where root_run = $1", [started.runId]);
    return {
      made,
      counted: budget!.calls,
      results,
      end: last.type === "run-end" ? (last.error?.code ?? last.status) : last.type,
      rows: rows.length,
    };
  }
  const make = (args: object) => ({ call: "make", arguments: args });

  test("the same call in a later step is not made again: its result is told, with a word, and it counts nothing", async () => {
    const script = [
      [make({ what: "cup", how: "well" })],
      [make({ how: "well", what: " cup " })],
      [make({ what: "cup" })],
      [make({ what: "cup" })],
      "end",
    ];
    assert.equal((await run(script, { repeatedCall: 1 })).counted, 1);
    const { made, results, end, rows } = await run(script, { writes: 1, toolCalls: 1, repeatedCall: 1 });
    assert.deepEqual([made, end, rows], [["cup"], "done", 1]);
    assert.equal(results.length, 4);
    for (const { content, isError, data, outcome } of results.slice(1)) {
      assert.match(content, /^made cup 1\n\n.*not done again/s);
      assert.deepEqual([isError, data, outcome], [undefined, undefined, "not-run"]);
    }
  });

  test("twice in one answer it is made once", async () => {
    const { made, results, end } = await run([[make({ what: "cup" }), make({ what: "cup" })], "end"], { writes: 1 });
    assert.deepEqual([made, end], [["cup"], "done"]);
    assert.match(results[1]!.content, /^made cup 1\n/);
  });

  test("other arguments are another thing", async () => {
    const { made } = await run([[make({ what: "cup" }), make({ what: "Cup" })], "end"]);
    assert.deepEqual(made, ["cup", "Cup"]);
  });

  test("what failed before may be tried again, though not in the same answer", async () => {
    const script = [[make({ what: "glass" }), make({ what: "glass" })], [make({ what: "glass" })], "end"];
    const { made, results } = await run(script);
    assert.deepEqual(made, ["glass", "glass"]);
    assert.deepEqual(
      results.map(({ content, isError }) => [content.split("\n")[0], isError]),
      [
        ["it broke", true],
        ["Not done: the same call stands before it in this answer, and says:", true],
        ["made glass 2", undefined],
      ],
    );
  });

  test("what may have been destroyed since is made again", async () => {
    const script = [[make({ what: "cup" })], [{ call: "destroy", arguments: {} }], [make({ what: "cup" })], "end"];
    assert.deepEqual((await run(script)).made, ["cup", "cup"]);
  });

  test("another run makes its own", async () => {
    const script = [[make({ what: "cup" })], "end"];
    assert.deepEqual([(await run(script)).made, (await run(script)).made], [["cup"], ["cup"]]);
  });
});
