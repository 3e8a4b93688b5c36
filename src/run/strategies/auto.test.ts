import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { anyDatabase } from "../../../test/databases.ts";
import { startTestRuns, type TestRuns } from "../../../test/runs.ts";
import type { Script } from "../../models/demo/scripted.ts";
import type { RunStart } from "../runs.ts";
import { auto, strategyIn } from "./auto.ts";
import { chat } from "./chat.ts";

anyDatabase((databases) => {
  const services: TestRuns[] = [];
  afterEach(() => Promise.all(services.splice(0).map((service) => service.stop(0))));
  const start = async (script: Script, agent: { tools?: string[] } = {}) => {
    const database = await databases.lend();
    const service = await startTestRuns({
      database,
      script,
      strategies: { auto, chat },
      agent: { strategy: "auto", ...agent },
    });
    services.push(service);
    return service;
  };
  const choicesIn = async (service: TestRuns, { threadId }: RunStart) =>
    (await service.threads.listItems(service.caller, threadId, {})).flatMap(({ body }) =>
      "type" in body && body.type === "strategy" ? [[body.strategy, body.reason]] : [],
    );

  test("where the rules are sure, no model is asked, and the run goes on as they say", async () => {
    const service = await start([[{ call: "add_task", arguments: { title: "Buy milk" } }], "Done."]);
    const { started, text } = await service.ask("Add a task: buy milk");
    assert.equal(text, "Done.");
    assert.equal(service.model.requests.length, 2);
    assert.deepEqual(await choicesIn(service, started), [["tools", "It asks for the user's tasks: “add a task”."]]);
  });

  test("chat offers no tools", async () => {
    const service = await start(["Once upon a time"]);
    const { started, text } = await service.ask("Write a short poem about the sea");
    assert.equal(text, "Once upon a time");
    assert.deepEqual(service.model.requests[0]!.tools ?? [], []);
    assert.equal((await choicesIn(service, started))[0]![0], "chat");
  });

  test("an agent without tools chats", async () => {
    const service = await start(["I can't know."], { tools: [] });
    const { started } = await service.ask("What time is it?");
    assert.deepEqual(await choicesIn(service, started), [["chat", "The agent has no tools."]]);
  });

  test("a model is asked where the rules are not sure; its choice is no part of the conversation", async () => {
    const service = await start([
      'Well: {"strategy": "chat", "reason": "talk"}',
      "Congratulations!",
      "You're welcome.",
    ]);
    const { started, text } = await service.ask("I got the job!!!");
    assert.equal(text, "Congratulations!");
    assert.deepEqual(await choicesIn(service, started), [["chat", "The model was asked."]]);
    const [asked, answered] = service.model.requests;
    assert.match(String(asked!.messages.at(-1)?.content), /I got the job.*plan-execute|plan-execute.*I got the job/s);
    assert.deepEqual(asked!.tools ?? [], []);
    assert.deepEqual(
      answered!.messages.map(({ role }) => role),
      ["system", "user"],
    );
    await service.ask("thanks!", { threadId: started.threadId });
    assert.deepEqual(
      service.model.requests[2]!.messages.map(({ content }) => content),
      ["Help.", "I got the job!!!", "Congratulations!", "thanks!"],
    );
  });

  test("a model that names nothing leads to tools", async () => {
    const service = await start(["Hm, hard to say.", "Congratulations!"]);
    const { started } = await service.ask("I got the job!!!");
    assert.deepEqual(await choicesIn(service, started), [["tools", "The model did not name one of the strategies."]]);
  });

  test("a tool that the caller forces is forced after the choice", async () => {
    const service = await start(['{"strategy": "tools"}', [{ call: "clock", arguments: {} }], "Noon."]);
    const message = { content: "I got the job!!!" };
    const options = { toolChoice: "required" } as const;
    await service.events(await service.runs.start(service.caller, { agent: "assistant", message, options }));
    assert.deepEqual(
      service.model.requests.map(({ toolChoice }) => toolChoice),
      [undefined, "required", "auto"],
    );
  });

  test("in a conversation the model sees what was said before", async () => {
    const service = await start(["Sun in Oslo.", '{"strategy": "tools"}', "Rain in Rome."]);
    const { started } = await service.ask("What's the weather in Oslo?");
    await service.ask("Rome then, perhaps", { threadId: started.threadId });
    const asked = service.model.requests[1]!.messages.map(({ content }) => content);
    assert.deepEqual(asked.slice(0, 3), ["Help.", "What's the weather in Oslo?", "Sun in Oslo."]);
    assert.match(String(asked[3]), /^Rome then, perhaps\n\n/);
    assert.equal(asked.length, 4);
  });
});

test("the strategy in a model's answer", () => {
  const cases = {
    '{"strategy": "plan-execute", "reason": "not chat"}': "plan-execute",
    '```json\n{"strategy":"react"}\n```': "react",
    "**chat**": "chat",
    "Strategy: `tools`": "tools",
    "I would use react here.": "react",
    "chat or tools": undefined,
    '{"strategy": "other"}': undefined,
    "plan-executed": undefined,
    "": undefined,
  };
  for (const [text, strategy] of Object.entries(cases)) assert.equal(strategyIn(text), strategy, text);
});
