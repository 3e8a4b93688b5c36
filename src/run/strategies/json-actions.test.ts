import assert from "node:assert/strict";
import { test } from "node:test";
import { fileTools, orchestratorTeam, written } from "../../../test/json-actions.ts";
import { anyRunDatabase, rowOf, until } from "../../../test/run-suite.ts";
import type { TestRuns } from "../../../test/runs.ts";
import type { Script, ScriptAnswer } from "../../models/demo/scripted.ts";
import type { ModelRequest } from "../../protocol/agents/models.ts";
import { actionTrace } from "./json-actions-trace.ts";
import type { RunStart } from "../runs.ts";
import { jsonActions } from "./json-actions.ts";

const { orchestrator, others } = await orchestratorTeam("script");
const goal = "Write a Python function to calculate fibonacci";
const final = (answer: string, thought = "") => written({ thought, action: "final", answer });
const read = (path: string) =>
  written({ thought: `look at ${path}`, action: "use_tool", tool: "read_file", args: { path } });

/** What stands behind the instructions and the user's message. */
function asked(request: ModelRequest | undefined): string[] {
  return request!.messages.slice(2).map(({ role, content }) => `${role}: ${String(content)}`);
}
const lastAsked = (request: ModelRequest | undefined) => String(request!.messages.at(-1)!.content);
const systemOf = (request: ModelRequest | undefined) => String(request!.messages[0]!.content);

anyRunDatabase(({ kind, start }) => {
  const startTeam = async (script: Script, limits: Partial<typeof orchestrator.limits> = {}) => {
    const { tools, uses } = fileTools({ "notes.md": "remember the milk", "more.md": "and the eggs" });
    const service = await start({
      agent: { ...orchestrator, limits: { ...orchestrator.limits, ...limits } },
      agents: others,
      strategies: { "json-actions": jsonActions },
      tools,
      script,
    });
    return { service, uses, requests: service.model.requests };
  };
  const ask = (service: TestRuns, content = goal, threadId?: string) =>
    service.ask(content, { agent: "orchestrator", ...(threadId === undefined ? {} : { threadId }) });
  const itemsOf = (service: TestRuns, { threadId, runId }: RunStart) =>
    service.threads
      .listItems(service.caller, threadId, {})
      .then((items) => items.filter((item) => item.runId === runId));
  const traceOf = async (service: TestRuns, started: RunStart) => actionTrace(await itemsOf(service, started));
  /** The request, and what a person would read as its answer. */
  const answered = async (service: TestRuns, content = goal) => {
    const { started, text } = await ask(service, content);
    assert.equal((await rowOf(service.database, started.runId)).status, "done");
    return { started, text };
  };

  test(`${kind}: the orchestrator delegates to the coder, whose final is the answer`, async () => {
    const code = "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)";
    const delegated = written({
      thought: "code is for the coder",
      action: "delegate",
      target_agent: "coder",
      args: { task: "Write fib(n) in Python and test it." },
    });
    const tried = written({ thought: "test it", action: "use_tool", tool: "run_python", args: { code } });
    const { service, requests, uses } = await startTeam([delegated, tried, final(code, "it works")]);
    const { started, text } = await answered(service);
    assert.equal(text, code);
    assert.deepEqual(uses, [`run_python ${code}`]);
    assert.deepEqual(await traceOf(service, started), [
      {
        step: 1,
        agent: "orchestrator",
        action: "delegate",
        tool: null,
        target_agent: "coder",
        thought: "code is for the coder",
      },
      { step: 2, agent: "coder", action: "use_tool", tool: "run_python", target_agent: null, thought: "test it" },
      { step: 3, agent: "coder", action: "final", tool: null, target_agent: null, thought: "it works" },
    ]);
    assert.match(
      systemOf(requests[0]),
      /^You are the orchestrator[^]*Available tools:\n[^]*read_file[^]*Available agents:\n- coder: Python/,
    );
    assert.doesNotMatch(systemOf(requests[0]), /\{tools\}|\{agents\}|- orchestrator:/);
    assert.match(systemOf(requests[1]), /^You are the coder/);
    assert.deepEqual(requests[0]!.messages.slice(1), [{ role: "user", content: goal }]);
    assert.deepEqual(asked(requests[1]), [
      `system: Context from previous steps:\n[orchestrator step 1] ${delegated}`,
      "user: Write fib(n) in Python and test it.",
    ]);
    assert.deepEqual(asked(requests[2]), [
      `system: Context from previous steps:\n[orchestrator step 1] ${delegated}\n[coder step 2] ${tried}`,
      "user: Tool `run_python` output:\nEXEC_OK: 55\n\nNow continue your reasoning and decide next action.",
    ]);
    assert.equal(requests[0]!.tools, undefined);
    const message = (await itemsOf(service, started)).findLast((item) => item.kind === "message")!;
    assert.equal(message.author, "coder");
  });

  test(`${kind}: the tools' outputs come back, errors as they are, and earlier ones stay in the context`, async () => {
    const { service, requests } = await startTeam([read("notes.md"), read("gone.md"), final("milk")]);
    assert.equal((await answered(service)).text, "milk");
    assert.match(lastAsked(requests[2]), /^Tool `read_file` output:\nERROR\(read_file\): there is no gone\.md\n\nNow/);
    assert.equal(
      asked(requests[2])[0],
      `system: Context from previous steps:\n[orchestrator step 1] ${read("notes.md")}\n[tool read_file output] remember the milk\n[orchestrator step 2] ${read("gone.md")}`,
    );
  });

  test(`${kind}: the task is args.task, else the answer, else the goal`, async () => {
    const hand = (target_agent: string, rest: object) => written({ action: "delegate", target_agent, ...rest });
    const { service, requests } = await startTeam([
      hand("researcher", { answer: "Look it up." }),
      hand("coder", { args: { task: "" } }),
      final("done"),
    ]);
    assert.equal((await answered(service)).text, "done");
    assert.equal(lastAsked(requests[1]), "Look it up.");
    assert.equal(lastAsked(requests[2]), `User goal: ${goal}`);
    assert.match(systemOf(requests[2]), /^You are the coder/);
  });

  test(`${kind}: an unknown tool, an unknown agent and an invalid action go back to the orchestrator`, async () => {
    const invalid = written({ action: "ponder" });
    const { service, requests, uses } = await startTeam([
      written({ action: "delegate", target_agent: "coder", args: { task: "go" } }),
      written({ action: "use_tool", tool: "launch_rocket" }),
      written({ action: "delegate", target_agent: "plumber" }),
      invalid,
      final("as far as I know"),
    ]);
    const { started, text } = await answered(service);
    assert.equal(text, "as far as I know");
    assert.deepEqual(uses, []);
    assert.deepEqual(requests.slice(2).map(lastAsked), [
      "Unknown tool 'launch_rocket'. Please provide a final answer with available information.",
      "Unknown agent 'plumber'. Please handle the task yourself or use available tools.",
      `Invalid action 'ponder'. Previous JSON: ${invalid}\nPlease provide a 'final' answer.`,
    ]);
    for (const request of requests.slice(2)) assert.match(systemOf(request), /^You are the orchestrator/);
    assert.deepEqual(
      (await traceOf(service, started)).map(({ agent, action }) => `${agent} ${action}`),
      ["orchestrator delegate", "coder use_tool", "orchestrator delegate", "orchestrator ponder", "orchestrator final"],
    );
  });

  test(`${kind}: after ten steps without an answer it says so`, async () => {
    const { service, requests, uses } = await startTeam(() => read("notes.md"));
    const { started, text } = await answered(service);
    assert.equal(text, "[MAX STEPS REACHED - No final answer provided]");
    assert.equal(requests.length, 10);
    assert.equal(uses.length, 10, "the same call may be made any number of times");
    assert.equal((await traceOf(service, started)).length, 10);
  });

  test(`${kind}: an empty final is [NO ANSWER]`, async () => {
    const { service } = await startTeam([final("")]);
    assert.equal((await answered(service)).text, "[NO ANSWER]");
  });

  test(`${kind}: a tool called by the provider's own means is an action like any other`, async () => {
    const byItself: ScriptAnswer = [{ text: "Let me see." }, { call: "read_file", arguments: { path: "notes.md" } }];
    const { service, requests } = await startTeam([byItself, final("milk")]);
    const { started, text } = await answered(service);
    assert.equal(text, "milk");
    const action = written({
      thought: "Let me see.",
      action: "use_tool",
      tool: "read_file",
      args: { path: "notes.md" },
    });
    assert.equal(asked(requests[1])[0], `system: Context from previous steps:\n[orchestrator step 1] ${action}`);
    assert.match(lastAsked(requests[1]), /^Tool `read_file` output:\nremember the milk\n/);
    assert.deepEqual(
      (await traceOf(service, started)).map(({ step, action: did, tool }) => `${step} ${did} ${tool}`),
      ["1 use_tool read_file", "2 final null"],
    );
  });

  test(`${kind}: for an answer in another format the protocol is not asked for`, async () => {
    const { service, requests } = await startTeam([final("milk"), '{"buy": "milk"}']);
    const started = await service.runs.start(service.caller, {
      agent: "orchestrator",
      message: { content: goal },
      options: { format: { type: "json" } },
    });
    await service.events(started);
    const last = (await itemsOf(service, started)).findLast((item) => item.kind === "message")!;
    assert.equal(last.body.content, '{"buy": "milk"}');
    assert.equal(systemOf(requests[1]), "Your final answer must be one JSON object and nothing else.");
  });

  test(`${kind}: a reply without JSON is asked for once more`, async () => {
    const { service, requests } = await startTeam(["I would read the notes.", read("notes.md"), final("milk")]);
    const { started, text } = await answered(service);
    assert.equal(text, "milk");
    const [reply, request] = requests[1]!.messages.slice(-2);
    assert.deepEqual(reply, { role: "assistant", content: "I would read the notes." });
    assert.match(String(request!.content), /^Your last reply could not be used: it contains no JSON/);
    assert.deepEqual(
      (await traceOf(service, started)).map(({ step, action }) => `${step} ${action}`),
      ["1 use_tool", "2 final"],
    );
  });

  test(`${kind}: if that fails too, the first text is the answer`, async () => {
    const { service, requests } = await startTeam(["42, of course.", "I said it."]);
    assert.equal((await answered(service)).text, "42, of course.");
    assert.equal(requests.length, 2);
  });

  test(`${kind}: without a step left the text is the answer at once`, async () => {
    const { service, requests } = await startTeam([read("notes.md"), "milk, I think"], { steps: 2 });
    assert.equal((await answered(service)).text, "milk, I think");
    assert.equal(requests.length, 2);
  });

  test(`${kind}: the model is held to a schema, and asked in the plainest form if its provider refuses that`, async () => {
    const { service, requests } = await startTeam(({ format, messages }): ScriptAnswer => {
      if (format || messages.slice(1).some(({ role }) => role === "system")) return [{ error: "refused" }];
      return /output:/.test(String(messages.at(-1)!.content)) ? final("fine") : read("notes.md");
    });
    const { started, text } = await answered(service);
    assert.equal(text, "fine");
    const logged = "select error is not null as failed from model_calls where run_id = $1 order by started_at";
    assert.deepEqual(
      await service.database.query(logged, [started.runId]),
      [true, false, false].map((failed) => ({ failed })),
      "what was refused is counted too",
    );
    const format = requests[0]!.format!;
    assert(format.type === "json-schema");
    assert.deepEqual(format.schema["required"], ["thought", "action", "tool", "target_agent", "args", "answer"]);
    assert.equal(requests.length, 3, "refused once");
    assert.match(lastAsked(requests[2]), /\n\nContext from previous steps:\n[^]*\n\nTool `read_file` output:\n/);
  });

  test(`${kind}: at a limit that is no hard stop, a person decides`, async () => {
    const { service } = await startTeam([read("notes.md"), read("notes.md"), final("milk")], {
      steps: 2,
      onLimit: "pause",
    });
    const { started } = await ask(service);
    assert.equal((await rowOf(service.database, started.runId)).wait_reason, "limit");
    await service.runs.continue(service.caller, started.runId);
    await until(async () => (await rowOf(service.database, started.runId)).status === "done", "its end");
  });

  test(`${kind}: what was said earlier in the thread is seen`, async () => {
    const { service, requests } = await startTeam([final("milk"), final("eggs, too")]);
    const { started } = await ask(service, "What shall I buy?");
    await ask(service, "What else?", started.threadId);
    assert.deepEqual(
      requests[1]!.messages.slice(1).map(({ role, content }) => `${role}: ${String(content)}`),
      ["user: What shall I buy?", "assistant: milk", "user: What else?"],
    );
  });

  test(`${kind}: what is said while the answer is written is answered as well`, async () => {
    const gate = Promise.withResolvers<void>();
    const { service, requests } = await startTeam([
      [{ gate: () => gate.promise }, { text: final("milk") }],
      final("milk and eggs"),
    ]);
    const started = await service.runs.start(service.caller, {
      agent: "orchestrator",
      message: { content: "What shall I buy?" },
    });
    await until(() => requests.length === 1, "the first request");
    await service.runs.steer(service.caller, started.runId, { content: "For a cake!" });
    gate.resolve();
    await service.events(started);
    assert.deepEqual(
      requests[1]!.messages.slice(1).map(({ role }) => role),
      ["user", "system", "user"],
    );
    assert.equal(requests[1]!.messages[1]!.content, "What shall I buy?\n\nFor a cake!");
    const last = (await itemsOf(service, started)).findLast((item) => item.kind === "message")!;
    assert.equal(last.body.content, "milk and eggs");
  });

  test(`${kind}: another process goes on in the middle, with nothing repeated`, async () => {
    const delegated = written({ action: "delegate", target_agent: "coder", args: { task: "go" } });
    const save = written({ action: "use_tool", tool: "write_file", args: { path: "out", content: "x" } });
    const first = await startTeam([delegated, save, [{ hang: true }]]);
    const started = await first.service.runs.start(first.service.caller, {
      agent: "orchestrator",
      message: { content: goal },
    });
    await until(() => first.requests.length === 3, "the third step");
    await first.service.stop(0);
    const second = await startTeam([final("saved")]);
    await second.service.events(started);
    assert.deepEqual([first.uses, second.uses], [["write_file out"], []]);
    assert.deepEqual(asked(second.requests[0]), [
      `system: Context from previous steps:\n[orchestrator step 1] ${delegated}\n[coder step 2] ${save}`,
      "user: Tool `write_file` output:\nOK: Wrote 1 chars to out\n\nNow continue your reasoning and decide next action.",
    ]);
    assert.match(systemOf(second.requests[0]), /^You are the coder/);
    assert.deepEqual(
      (await traceOf(second.service, started)).map(({ step, agent, action }) => `${step} ${agent} ${action}`),
      ["1 orchestrator delegate", "2 coder use_tool", "3 coder final"],
    );
  });
});
