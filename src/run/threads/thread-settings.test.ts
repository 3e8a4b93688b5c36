import assert from "node:assert/strict";
import { test } from "node:test";
import { eachRunDatabase, until } from "../../../test/run-suite.ts";
import type { ThreadSettings } from "../../protocol/threads/threads.ts";

eachRunDatabase((suite) => {
  const helper = { id: "helper", tools: ["now", "calculate"], model: "script" };

  async function talk(settings: ThreadSettings, options: Partial<Parameters<typeof suite.start>[0]> = {}) {
    const service = await suite.start({ script: () => "ok", ...options });
    const { id: threadId } = await service.threads.createThread(service.caller, {});
    await service.threads.changeSettings(service.caller, threadId, settings);
    const lastRequest = () => service.model.requests.at(-1)!;
    const toolsOffered = () => (lastRequest().tools ?? []).map(({ name }) => name);
    return { service, threadId, lastRequest, toolsOffered };
  }

  test("every run of the conversation works with its settings, and no other does", async () => {
    const agent = { tools: ["now", "calculate"], settings: { maxTokens: 500, topP: 0.5 } };
    const set = {
      temperature: 0.2,
      reasoningEffort: "low",
      maxTokens: 300,
      instructions: "Answer in verse.",
      toolsOff: ["now", "no_such_tool"],
    };
    const { service, threadId, lastRequest, toolsOffered } = await talk(set, { agent });
    assert.deepEqual(await service.threads.settingsOf(service.caller, threadId), set);
    const { started } = await service.ask("hi", { threadId });
    const { messages, settings } = lastRequest();
    assert.deepEqual(messages[0], { role: "system", content: "Help.\n\nAnswer in verse." });
    assert.deepEqual(settings, { topP: 0.5, temperature: 0.2, reasoningEffort: "low", maxTokens: 300 });
    assert.deepEqual(toolsOffered(), ["calculate"]);
    // A call that it makes all the same is not done.
    const definition = await service.runs.definitionOf(service.caller, started.runId);
    assert.deepEqual([definition.toolsOff, definition.tools.map(({ name }) => name)], [set.toolsOff, ["calculate"]]);

    await service.threads.changeSettings(service.caller, threadId, { maxTokens: 9000 });
    await service.ask("again", { threadId });
    assert.deepEqual(lastRequest().settings, { topP: 0.5, maxTokens: 500 }, "the agent's own bound holds");
    assert.deepEqual(toolsOffered(), ["calculate", "now"]);
    await service.threads.changeSettings(service.caller, threadId, {});
    assert.deepEqual(await service.threads.settingsOf(service.caller, threadId), {});
    await service.ask("elsewhere");
    assert.deepEqual(lastRequest().messages[0], { role: "system", content: "Help." });
  });

  test("a tool that is off is not called, by nobody whom the agent hands work to either", async () => {
    const { service, threadId } = await talk(
      { toolsOff: ["now"] },
      {
        agents: [helper],
        agent: { tools: ["calculate"], agents: ["helper"] },
        script: ({ messages, tools = [] }) => {
          const names = tools.map(({ name }) => name);
          if (messages.some(({ role }) => role === "tool")) return "done";
          return names.includes("delegate")
            ? [{ call: "delegate", arguments: { agent: "helper", task: "time?" } }]
            : [{ call: "now", arguments: {} }];
        },
      },
    );
    await service.ask("what time is it?", { threadId });
    const ofHelper = service.model.requests.find(({ tools = [] }) => !tools.some(({ name }) => name === "delegate"))!;
    assert.deepEqual(
      ofHelper.tools!.map(({ name }) => name),
      ["calculate"],
    );
    const results = await service.database.query<{ content: string }>(
      "select body ->> 'content' as content from items where kind = 'result' and body ->> 'isError' = 'true'",
    );
    assert.match(results[0]!.content, /now/);
    await service.threads.changeSettings(service.caller, threadId, { toolsOff: ["delegate"] });
    await service.ask("and now?", { threadId });
    const last = service.model.requests.findLast(({ messages }) => messages.at(-1)!.role === "user")!;
    assert.deepEqual(
      last.tools!.map(({ name }) => name),
      ["calculate"],
    );
  });

  test("a run goes on as it began, whatever is set meanwhile", async () => {
    const gate = Promise.withResolvers<void>();
    const { service, threadId } = await talk(
      { instructions: "First.", toolsOff: ["now"] },
      {
        agent: { tools: ["now", "calculate"] },
        script: (_, count) =>
          count === 0
            ? [{ gate: () => gate.promise }, { call: "calculate", arguments: { expression: "1" } }]
            : count === 1
              ? [{ error: "refused" }]
              : "ok",
      },
    );
    const message = { content: "hi" };
    const started = await service.runs.start(service.caller, { agent: "assistant", threadId, message });
    await until(() => service.model.requests.length === 1);
    // A message that waits was accepted under what was set then, too.
    const behind = await service.runs.start(service.caller, { agent: "assistant", threadId, message });
    await service.threads.changeSettings(service.caller, threadId, { instructions: "Second." });
    gate.resolve();
    await service.events(started);
    await service.events(behind);
    await service.events(await service.runs.resume(service.caller, started.runId));
    const fork = await service.runs.fork(service.caller, started.runId, { step: "1" });
    await service.events(fork);
    const systems = service.model.requests.map(({ messages }) => messages[0]!.content);
    assert.deepEqual(new Set(systems), new Set(["Help.\n\nFirst."]));
    assert.ok(service.model.requests.every(({ tools = [] }) => !tools.some(({ name }) => name === "now")));
    await service.ask("now", { threadId });
    assert.equal(service.model.requests.at(-1)!.messages[0]!.content, "Help.\n\nSecond.");
  });

  test("its model answers, unless the request names another; one that is gone is told", async () => {
    const { service, threadId } = await talk({ model: "demo" });
    const { started } = await service.ask("hi", { threadId });
    const answer = async (runId: string) => {
      const items = await service.threads.listItems(service.caller, threadId, {});
      const message = items.findLast((item) => item.kind === "message" && item.runId === runId && item.step !== null);
      return message?.kind === "message" ? message.body.model : undefined;
    };
    assert.equal(await answer(started.runId), "demo");
    const named = await service.runs.start(service.caller, {
      ...{ agent: "assistant", threadId, message: { content: "hi" } },
      options: { model: "script", settings: { temperature: 1 } },
    });
    await service.events(named);
    assert.equal(await answer(named.runId), "script");
    assert.deepEqual(service.model.requests.at(-1)!.settings, { temperature: 1 });

    const held = { ...service.caller, role: "user" as const, permissions: ["agent:*", "model:script"] };
    const message = { content: "hi" };
    await assert.rejects(service.threads.changeSettings(held, threadId, { model: "demo" }), {
      code: "model_not_found",
    });
    await assert.rejects(service.threads.changeSettings(held, threadId, { model: "nowhere" }), { status: 422 });
    await assert.rejects(service.runs.start(held, { agent: "assistant", threadId, message }), {
      code: "model_not_found",
      message: /settings/,
    });
    await service.threads.changeSettings(held, threadId, { model: "script" });
    await service.events(await service.runs.start(held, { agent: "assistant", threadId, message }));
  });

  test("a fork has them too; a stranger and a room have none", async () => {
    const { service, threadId } = await talk({ instructions: "Rhyme." });
    await service.ask("hi", { threadId });
    const fork = await service.threads.forkThread(service.caller, threadId);
    assert.deepEqual(await service.threads.settingsOf(service.caller, fork.id), { instructions: "Rhyme." });
    const stranger = { ...service.caller, userId: crypto.randomUUID() };
    await assert.rejects(service.threads.changeSettings(stranger, threadId, {}), { status: 404 });
    await assert.rejects(service.threads.settingsOf(stranger, threadId), { status: 404 });
    await assert.rejects(service.threads.settingsOf(service.caller, "x"), { status: 404 });
    await service.database.query("insert into rooms (thread_id, user_id) values ($1, $2)", [
      fork.id,
      service.caller.userId,
    ]);
    await assert.rejects(service.threads.changeSettings(service.caller, fork.id, {}), { code: "thread_is_room" });
  });
});
