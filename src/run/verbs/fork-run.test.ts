import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { anyRunDatabase, until } from "../../../test/run-suite.ts";
import type { TestRuns } from "../../../test/runs.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Tool } from "../../protocol/agents/tools.ts";
import { checkInvariants } from "../../store/schema/invariants.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import type { ForkInput } from "../runs.ts";

/** A write, or a read, that is counted outside. */
function noteTool(name: string, noted: string[], effect: "read" | "write" = "write"): Tool {
  return defineTool({
    name,
    description: "Notes something.",
    input: z.object({ what: z.string() }),
    effect,
    timeoutMs: 1500,
    execute({ what }) {
      noted.push(`${name} ${what}`);
      return `noted ${what}`;
    },
  });
}
const call = (name: string, what: string) => ({ call: name, arguments: { what } });
/** Four steps: two writes at once, a read, a write, the answer. */
const steps = [[call("note", "a"), call("note", "b")], [call("look", "c")], [call("note", "d")], "all noted"];

anyRunDatabase((runs) => {
  const sound = async () =>
    assert.deepEqual(
      (await checkInvariants(runs.database().query)).filter(({ broken }) => broken > 0),
      [],
    );
  /** A run of four steps, and a model that goes on wherever it finds itself. */
  const fourSteps = async (noted: string[], options: { readonly end?: () => boolean } = {}) => {
    const service = await runs.start({
      tools: [noteTool("note", noted), noteTool("look", noted, "read")],
      agents: [{ id: "other" }],
      script: ({ messages }) => {
        const at = messages.filter(({ role }) => role === "assistant").length;
        return at === 3 && options.end?.() === false ? [{ hang: true }] : steps[at]!;
      },
    });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "note them" } });
    return { service, started };
  };
  const fork = async (service: TestRuns, runId: string, input: ForkInput) => {
    const forked = await service.runs.fork(service.caller, runId, input);
    const events = await service.events(forked);
    return { forked, events };
  };

  test("from each step of a run: what was kept is not called again, and what follows is done", async () => {
    const noted: string[] = [];
    const { service, started } = await fourSteps(noted);
    await service.events(started);
    const all = ["note a", "note b", "look c", "note d"];
    assert.deepEqual(noted.splice(0), all);
    const asked = service.model.requests.slice();
    for (const [step, left] of [
      ["1", ["look c", "note d"]],
      ["2", ["note d"]],
      ["3", []],
    ] as const) {
      const before = service.model.requests.length;
      const { forked, events } = await fork(service, started.runId, { step });
      const last = events.at(-1)!;
      assert.equal(last.type === "run-end" && last.status, "done");
      assert.deepEqual(noted.splice(0), left);
      const requests = service.model.requests.slice(before);
      const rolesOf = ({ messages }: (typeof requests)[number]) => messages.map(({ role, content }) => [role, content]);
      assert.deepEqual(
        requests.map(rolesOf),
        asked.slice(Number(step)).map(rolesOf),
        "it is asked what it was asked before",
      );
      const details = await service.adminRuns.get(forked.runId);
      assert.deepEqual(details.origin, { run: started.runId, kind: "fork", step });
      assert.deepEqual(
        details.ledger.map(({ step: at }) => at),
        step === "3" ? [] : ["3"],
      );
      assert.equal(forked.threadId, started.threadId);
      const shown = await service.threads.listBranch(service.caller, started.threadId);
      assert.ok(
        shown.every(({ runId }) => runId === forked.runId),
        "a branch beside the first",
      );
    }
    const first = await service.adminRuns.get(started.runId);
    assert.deepEqual([first.run.status, first.ledger.length], ["done", 3]);
    await sound();
  });

  test("with another model, other instructions and other words", async () => {
    const noted: string[] = [];
    const { service, started } = await fourSteps(noted);
    await service.events(started);
    const changed = { step: "2", instructions: "Be brief.", input: "note them quickly" };
    await fork(service, started.runId, changed);
    const { messages } = service.model.requests.at(-1)!;
    assert.deepEqual([messages[0]!.content, messages[1]!.content], ["Be brief.", "note them quickly"]);
    const { forked } = await fork(service, started.runId, { step: "1", model: "script" });
    const [row] = await runs
      .database()
      .query<{ model: string }>(
        "select d.body -> 'options' ->> 'model' as model from runs r join run_definitions d on d.hash = r.definition_hash where r.id = $1",
        [forked.runId],
      );
    assert.equal(row!.model, "script");
    const user = { ...service.caller, role: "user" as const };
    await assert.rejects(service.runs.fork(user, started.runId, changed), { status: 403 });
  });

  test("of a run that was stopped: a call that was cut off before it began is made by the fork", async () => {
    const noted: string[] = [];
    const service = await runs.start({
      tools: [noteTool("note", noted)],
      approval: { ask: ["note"] },
      script: ({ messages }) => (messages.at(-1)!.role === "tool" ? "noted" : [call("note", "a")]),
    });
    const { started } = await service.ask("go");
    await service.runs.cancel(service.caller, started.runId);
    const { forked, events } = await fork(service, started.runId, { step: "1" });
    assert.equal(events.at(-1)!.type, "run-wait");
    const made = events.find((event) => event.type === "call-start");
    assert.ok(made && made.item.body.kept === undefined, "it is the fork's own");
    const [question] = await service.approvals.questions(service.caller, forked.runId);
    await service.approvals.decide(service.caller, forked.runId, {
      questionId: question!.id,
      input: { decision: "allow" },
    });
    await until(async () => (await service.runs.get(service.caller, forked.runId)).status === "done");
    assert.deepEqual(noted, ["note a"]);
    assert.equal(service.model.requests.length, 2, "the first step is not asked again");
    await sound();
  });

  test("a fork of a resumed run keeps what stands, and so does a copy of its thread", async () => {
    const noted: string[] = [];
    let isWell = false;
    const { service, started } = await fourSteps(noted, { end: () => isWell });
    await until(() => service.model.requests.length === 4);
    await service.runs.cancel(service.caller, started.runId);
    await until(async () => (await service.runs.get(service.caller, started.runId)).status === "cancelled");
    isWell = true;
    await service.events(await service.runs.resume(service.caller, started.runId));
    noted.length = 0;
    await fork(service, started.runId, { step: "3" });
    assert.deepEqual(noted, []);
    await service.threads.forkThread(service.caller, started.threadId);
    await sound();
  });

  test("what can't be forked is refused with words; the same key is the same fork", async () => {
    const { service, started } = await fourSteps([]);
    await service.events(started);
    const forked = (runId: string, input: Partial<ForkInput> = {}, caller = service.caller) =>
      service.runs.fork(caller, runId, { step: "1", ...input });
    await assert.rejects(forked(started.runId, { step: "4" }), { status: 409, code: "nothing_left" });
    await assert.rejects(forked(started.runId, { step: "9" }), {
      status: 404,
      code: "step_not_found",
      message: /1, 2, 3, 4/,
    });
    await assert.rejects(forked(started.runId, { model: "skript" }), {
      code: "model_not_found",
      message: /mean script/,
    });
    await assert.rejects(forked(newId()), { status: 404, code: "run_not_found" });
    await assert.rejects(forked("nonsense"), { status: 404 });
    const nobody = { ...service.caller, userId: newId(), role: "user" as const };
    await assert.rejects(forked(started.runId, {}, nobody), { status: 404 });
    const idempotency = { key: newId(), bodyHash: "x" };
    const [one, other] = await Promise.all([1, 2].map(() => forked(started.runId, { idempotency })));
    assert.equal(one!.runId, other!.runId);
    await service.events(one!);
  });

  test("not beside a run that has not ended, which is named", async () => {
    const service = await runs.start({
      tools: [noteTool("look", [], "read")],
      script: (_, count) => [[call("look", "a")], "looked", [{ hang: true as const }]][count]!,
    });
    const { started } = await service.ask("look");
    const { threadId } = started;
    const live = await service.runs.start(service.caller, { agent: "assistant", threadId, message: { content: "on" } });
    const isBusy = { status: 409, code: "thread_busy", message: new RegExp(live.runId) };
    await assert.rejects(service.runs.fork(service.caller, started.runId, { step: "1" }), isBusy);
  });
});
