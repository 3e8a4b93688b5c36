import assert from "node:assert/strict";
import { test } from "node:test";
import { anyRunDatabase, until } from "../../../test/run-suite.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { TestRuns } from "../../../test/runs.ts";
import type { ScriptAnswer } from "../../models/demo/scripted.ts";
import type { Item, ItemOf } from "../../protocol/threads/items.ts";
import type { ModelRequest } from "../../protocol/agents/models.ts";
import { strategySettingsSchema } from "../../protocol/agents/strategies.ts";
import { itemColumns, toItem, type ItemRow } from "../log/rows.ts";

const isSummary = ({ messages }: ModelRequest) => String(messages[0]!.content).includes("<conversation>");
/** The last thing said, without a summary before it. */
const asked = ({ messages }: ModelRequest) =>
  String(messages.at(-1)!.content).replace(/^<summary>[^]*<\/summary>\n\n/, "");
const subject = (about: string) =>
  `${about}: ` + `the harbour has boats and the boats have sails, says ${about}. `.repeat(12);
const summary = "The user speaks about the harbour, its boats and sails. All questions were answered.";

/** Answers in the length of its question; summaries as told. */
function talker(summarise: (request: ModelRequest, count: number) => ScriptAnswer) {
  let summaries = 0;
  return (request: ModelRequest): ScriptAnswer =>
    isSummary(request) ? summarise(request, summaries++) : `Answer to ${asked(request)}`;
}

anyRunDatabase((suite) => {
  const contextTokens = 3000;

  async function itemsOf(threadId: string): Promise<Item[]> {
    const rows = await suite
      .database()
      .query<ItemRow>(`select ${itemColumns} from items where thread_id = $1 order by seq`, [threadId]);
    return rows.map(toItem);
  }
  async function summariesOf(threadId: string): Promise<ItemOf<"summary">[]> {
    return (await itemsOf(threadId)).filter((item) => item.kind === "summary");
  }
  /** Asks one after another in one thread. */
  async function talk(service: TestRuns, from: number, to: number, threadId?: string): Promise<string> {
    for (let turn = from; turn <= to; turn++) {
      const { started, text, events } = await service.ask(subject(`turn ${turn}`), threadId ? { threadId } : {});
      threadId = started.threadId;
      assert.match(text, new RegExp(`^Answer to turn ${turn}:`), "a summary is told to nobody");
      const end = events.at(-1)!;
      assert.ok(end.type === "run-end" && end.status === "done");
    }
    return threadId!;
  }

  test("a past that no longer fits is summarised, and the summary summarised in its turn", async () => {
    const service = await suite.start({ script: talker(() => summary), contextTokens });
    const threadId = await talk(service, 1, 12);
    const summaries = await summariesOf(threadId);
    assert.ok(summaries.length >= 2, `${summaries.length} summaries`);
    const requests = service.model.requests.filter(isSummary);
    assert.equal(requests.length, summaries.length);
    assert.match(String(requests[0]!.messages[0]!.content), /User: turn 1: [^]*Assistant: Answer to turn 1:/);
    assert.match(String(requests[1]!.messages[0]!.content), /Summary of what came before:\nThe user speaks/);
    assert.doesNotMatch(String(requests[1]!.messages[0]!.content), /User: turn 1:/);

    const last = service.model.requests.at(-1)!.messages;
    assert.match(
      String(last[1]!.content),
      /^<summary>[^]*The user speaks about the harbour[^]*<\/summary>\n\nturn \d+:/,
    );
    assert.match(String(last.at(-1)!.content), /^turn 12:/);
    assert.match(String(last.at(-2)!.content), /^Answer to turn 11:/, "the newest part stays as it was");
    for (const [index, message] of last.entries()) if (index > 0) assert.notEqual(message.role, last[index - 1]!.role);

    const logged = await suite
      .database()
      .query<{ step: string }>("select step from model_calls where step like 'summary/%' order by step", []);
    assert.equal(logged.length, summaries.length);
    const [{ steps }] = (await suite
      .database()
      .query<{ steps: number }>("select max(steps)::integer as steps from budgets", [])) as [{ steps: number }];
    assert.equal(steps, 2, "a summary is a step of its run");
  });

  const faults: readonly [what: string, answer: ScriptAnswer, notice: RegExp][] = [
    ["a refusal", "I'm sorry, I can't help with boats and sails of the harbour.", /a refusal/],
    ["something else", "Photosynthesis converts sunlight into chemical energy inside plant leaves.", /something else/],
    ["next to nothing", "Boats.", /almost empty/],
    ["a text without end", "The harbour has boats and the boats have sails. ".repeat(60), /too long/],
    ["a text that was cut", [{ text: summary }, { finish: "length" }], /ended early/],
    ["an error", [{ error: "refused", message: "no such thing" }], /no such thing/],
  ];
  for (const [what, answer, notice] of faults)
    test(`${what} replaces nothing: the past is cut instead, and a notice says so`, async () => {
      const service = await suite.start({ script: talker(() => answer), contextTokens });
      const threadId = await talk(service, 1, 9);
      assert.deepEqual(await summariesOf(threadId), []);
      const notices = (await itemsOf(threadId)).filter((item) => item.kind === "notice");
      assert.equal(notices.length, 3, "a thread is left alone after some failures");
      assert.equal(service.model.requests.filter(isSummary).length, 3);
      assert.match(notices[0]!.body.text, notice);
      const [, first] = service.model.requests.at(-1)!.messages;
      assert.match(String(first!.content), /^turn [3-8]:/);
    });

  test("a summary that was committed is not made again by the next owner of the run", async () => {
    let held = Promise.withResolvers<void>();
    let waits = false;
    const script = (request: ModelRequest): ScriptAnswer => {
      if (isSummary(request)) return summary;
      const last = asked(request);
      if (!last.startsWith("turn 6")) return `Answer to ${last}`;
      waits = true;
      return [{ gate: () => held.promise }, { text: "Answer to turn 6: ok" }];
    };
    const first = await suite.start({ script, contextTokens });
    const threadId = await talk(first, 1, 5);
    const before = (await summariesOf(threadId)).length;
    const started = await first.runs.start(first.caller, {
      agent: "assistant",
      threadId,
      message: { content: subject("turn 6") },
    });
    await until(() => waits, "the step after the summary");
    const made = (await summariesOf(threadId)).length;
    await first.stop(0);
    held.resolve();
    held = Promise.withResolvers();
    held.resolve();
    const second = await suite.start({ script, contextTokens });
    const events = await second.events(started);
    assert.equal(events.at(-1)!.type, "run-end");
    assert.ok(made > before || before > 0);
    assert.equal((await summariesOf(threadId)).length, made);
    assert.equal(second.model.requests.filter(isSummary).length, 0);
    assert.match(String(second.model.requests[0]!.messages[1]!.content), /^<summary>/);
  });

  test("what a caller's dialect said to the agent outlives the summary of its part", async () => {
    const service = await suite.start({ script: talker(() => summary), contextTokens });
    const started = await service.runs.start(service.caller, {
      agent: "assistant",
      system: "Speak like a sailor.",
      before: [
        { id: newId(), kind: "message", body: { role: "system", content: "Name the ship.", saidAs: "developer" } },
      ],
      message: { content: subject("turn 0") },
    });
    await service.events(started);
    await talk(service, 1, 8, started.threadId);
    const summaries = await summariesOf(started.threadId);
    assert.ok(summaries.length > 1);
    for (const { body } of summaries)
      assert.deepEqual([body.system, body.said], ["Speak like a sailor.", ["Name the ship."]]);
    const told = service.model.requests.at(-1)!.messages[0]!.content;
    assert.equal(told, "Help.\n\nName the ship.\n\nSpeak like a sailor.");
  });

  test("no more messages of the past are told than the operator wants", async () => {
    const service = await suite.start({
      script: talker(() => summary),
      strategySettings: strategySettingsSchema.parse({ history: { messages: 2 } }),
    });
    await talk(service, 1, 4);
    const told = service.model.requests.at(-1)!.messages.map(({ content }) => String(content).slice(0, 16));
    assert.deepEqual(told, ["Help.", "turn 3: the harb", "Answer to turn 3", "turn 4: the harb"]);
  });
});
