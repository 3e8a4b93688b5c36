import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { z } from "zod";
import { type Manner, type RudePartner, startRudePartner } from "../../../test/rude-partner.ts";
import { anyRunDatabase } from "../../../test/run-suite.ts";
import type { Tool, ToolContext } from "../../protocol/agents/tools.ts";
import { checkInvariants } from "../../store/schema/invariants.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import { NothingDone } from "../../tools/core/nothing-done.ts";

let partner: RudePartner;
before(async () => {
  partner = await startRudePartner();
});
after(() => partner.close());

/** A write as people write them. */
function pay(work: (context: ToolContext) => Promise<unknown>, more: Partial<Parameters<typeof defineTool>[0]> = {}) {
  return defineTool({
    name: "pay",
    description: "Pays.",
    input: z.object({}),
    effect: "write",
    timeoutMs: 3_600_000,
    execute: (_input: unknown, context: ToolContext) => work(context),
    ...more,
  } as Parameters<typeof defineTool>[0]);
}

/** As the documentation has it. */
async function charge({ signal, idempotencyKey }: Pick<ToolContext, "signal" | "idempotencyKey">, url = partner.url) {
  const headers = { "idempotency-key": idempotencyKey };
  const response = await fetch(url, { method: "POST", headers, signal });
  if (response.status === 404) return { content: await response.text(), isError: true };
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.json();
}

const closedPort = async () => {
  const other = await startRudePartner();
  await other.close();
  return other.url;
};

anyRunDatabase((suite) => {
  /** What became of a call, as the ledger and the model have it. */
  async function outcomeOf(tool: Tool, onUnknown?: "tell-model") {
    const service = await suite.start({
      tools: [tool],
      script: [[{ call: "pay", arguments: {} }], "Done."],
      ...(onUnknown && { agent: { onUnknown } }),
    });
    const { started, events } = await service.ask("pay");
    const [row] = await suite
      .database()
      .query<{ status: string }>("select status from ledger where run_id = $1", [started.runId]);
    const result = events.find((event) => event.type === "call-end")?.item.body;
    const last = events.at(-1)!;
    return {
      ledger: row?.status,
      end: last.type === "run-wait" ? last.reason : last.type === "run-end" ? last.status : last.type,
      result: result?.content,
      effects: partner.effects.length,
      service,
      started,
    };
  }

  describe("a write to a rude partner", () => {
    const unclear: readonly Manner[] = ["reset", "nonsense", "half", "broken", "busy", "throttling", "impatient"];
    for (const manner of unclear) {
      test(`${manner}: it is not known, and a person is asked at once`, async () => {
        partner.behave(manner);
        const { result, service: _, started: __, ...outcome } = await outcomeOf(pay((context) => charge(context)));
        assert.deepEqual(outcome, { ledger: "unknown", end: "unknown", effects: 1 });
        assert.equal(result, undefined, "the model is told nothing that is not known");
      });
    }

    test("silent: it is not known", async () => {
      partner.behave("silent");
      const outcome = await outcomeOf(pay((context) => charge(context), { timeoutMs: 200 }));
      assert.deepEqual([outcome.ledger, outcome.end, outcome.effects], ["unknown", "unknown", 1]);
    });

    test("a returned error is an outcome, and nobody is asked", async () => {
      partner.behave("refusing");
      const outcome = await outcomeOf(pay((context) => charge(context)));
      assert.deepEqual(
        [outcome.ledger, outcome.end, outcome.result, outcome.effects],
        ["failed", "done", "customer not found", 0],
      );
    });

    const harmless: readonly [string, (context: ToolContext) => Promise<unknown>][] = [
      ["a refused connection", async (context) => charge(context, await closedPort())],
      ["an unknown name", (context) => charge(context, "http://nobody.invalid/")],
      [
        "NothingDone",
        async () => {
          throw new NothingDone("no key is set");
        },
      ],
      [
        "a look before, and then a refused connection",
        async (context) => {
          await fetch(partner.url, { method: "HEAD" }).catch(() => {});
          return charge(context, await closedPort());
        },
      ],
    ];
    for (const [what, work] of harmless) {
      test(`${what}: nothing was done, and nobody is asked`, async () => {
        partner.behave("refusing");
        const outcome = await outcomeOf(pay(work));
        assert.deepEqual([outcome.ledger, outcome.end, outcome.effects], ["failed", "done", 0]);
      });
    }

    test("a throw before or after its request says nothing of what was done", async () => {
      for (const when of ["before", "after"]) {
        partner.behave("polite");
        const outcome = await outcomeOf(
          pay(async (context) => {
            if (when === "after") await charge(context);
            throw new Error(`thrown ${when}`);
          }),
        );
        assert.deepEqual([outcome.ledger, outcome.end], ["unknown", "unknown"], when);
        const [question] = await outcome.service.approvals.questions(outcome.service.caller, outcome.started.runId);
        assert.match(question!.body.text, new RegExp(`thrown ${when}`));
      }
    });

    test("a refused connection after another request was sent is unknown", async () => {
      partner.behave("polite");
      const outcome = await outcomeOf(
        pay(async (context) => {
          await charge(context);
          await charge(context, await closedPort());
        }),
      );
      assert.deepEqual([outcome.ledger, outcome.end, outcome.effects], ["unknown", "unknown", 1]);
    });

    test("an agent that nobody attends is told that it is not known, and the ledger stays so", async () => {
      partner.behave("reset");
      const outcome = await outcomeOf(
        pay((context) => charge(context)),
        "tell-model",
      );
      assert.deepEqual([outcome.ledger, outcome.end, outcome.effects], ["unknown", "done", 1]);
      assert.match(outcome.result ?? "", /^It is not known whether pay was done: .*\n.*before you have looked/s);
      const { approvals, caller } = outcome.service;
      assert.deepEqual(await approvals.questions(caller, outcome.started.runId), []);
      const broken = (await checkInvariants(suite.database().query)).filter((invariant) => invariant.broken > 0);
      assert.deepEqual(broken, []);
      const { runId } = outcome.started;
      await outcome.service.adminRuns.resolve(caller, runId, { step: "1", index: 0, status: "done" });
      const [row] = await suite.database().query("select status from ledger where run_id = $1", [runId]);
      assert.deepEqual(row, { status: "done" });
    });

    test("what was done and can't be told is done", async () => {
      partner.behave("polite");
      const outcome = await outcomeOf(
        pay(async (context) => {
          await charge(context);
          return { id: 1n };
        }),
      );
      assert.deepEqual([outcome.ledger, outcome.end, outcome.effects], ["done", "done", 1]);
    });

    test("one that honours its key is called again with the same one, and not after its whole time", async () => {
      partner.behave("reset", "polite");
      const outcome = await outcomeOf(pay((context) => charge(context), { idempotent: true, timeoutMs: 3_600_000 }));
      assert.deepEqual([outcome.ledger, outcome.end], ["done", "done"]);
      assert.deepEqual([partner.effects.length, new Set(partner.effects).size], [2, 1]);
    });

    test("one that can be asked is asked, once its time is over", async () => {
      partner.behave("reset");
      const asked: string[] = [];
      const outcome = await outcomeOf(
        pay((context) => charge(context), {
          timeoutMs: 500,
          reconcile: async (_input: unknown, { idempotencyKey }: ToolContext) => {
            asked.push(idempotencyKey);
            return { content: "paid" };
          },
        }),
      );
      assert.deepEqual([outcome.ledger, outcome.end, outcome.result], ["done", "done", "paid"]);
      assert.deepEqual([outcome.effects, asked], [1, [partner.effects[0]]]);
    });

    test("what a tool of ours throws on its own tables was undone", async () => {
      const outcome = await outcomeOf(
        pay(
          async () => {
            throw new Error("no such task");
          },
          { scope: "local" },
        ),
      );
      assert.deepEqual([outcome.ledger, outcome.end], ["failed", "done"]);
    });
  });
});
