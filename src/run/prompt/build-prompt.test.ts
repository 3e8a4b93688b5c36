import assert from "node:assert/strict";
import { test } from "node:test";
import { anyRunDatabase } from "../../../test/run-suite.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Item, NewItem } from "../../protocol/threads/items.ts";
import { estimate, tokensOf } from "../log/estimate-tokens.ts";
import { tokensOfTold } from "../log/message-blocks.ts";
import { buildPrompt, type PromptOptions } from "./build-prompt.ts";
import { readHistory } from "../log/history.ts";
import { insertItemsSql, itemsParameter, placeItems } from "../log/rows.ts";

type BranchItem = NewItem & { readonly run: string | null };
const message = (
  run: string | null,
  role: "user" | "assistant" | "system",
  content: string,
  step?: string,
): BranchItem => ({
  id: newId(),
  kind: "message",
  run,
  ...(step === undefined ? {} : { step, attempt: 1 }),
  body: { role, content },
});

/** A run of a random length: input, answers with several calls each, results, nested steps, an answer. */
function randomRun(random: (below: number) => number): BranchItem[] {
  const run = newId();
  const words = () => "word ".repeat(1 + random(30));
  const items: BranchItem[] = [message(run, "user", words())];
  const steps = random(4);
  for (let step = 1; step <= steps; step++) {
    const at = { step: String(step), attempt: 1 };
    items.push(message(run, "assistant", random(2) ? words() : "", at.step));
    const calls = 1 + random(3);
    for (let index = 0; index < calls; index++)
      items.push({
        id: newId(),
        kind: "call",
        run,
        ...at,
        index,
        body: { name: "t", arguments: "{}", target: "server" },
      });
    if (random(3) === 0) items.push(message(run, "assistant", "nested", `${step}.0/1`));
    for (let index = calls - 1; index >= 0; index--)
      items.push({ id: newId(), kind: "result", run, ...at, index, body: { content: words() } });
  }
  items.push(message(run, "assistant", words(), String(steps + 1)));
  items.push({ id: newId(), kind: "state", run, body: { type: "run-end", status: "done" } });
  return items;
}

const place = { threadId: newId(), firstSeq: 1, parent: null, time: new Date().toISOString() };

test("whatever is cut, pairs stay whole, and the instructions and the input stay", () => {
  for (let seed = 1; seed <= 60; seed++) {
    let state = seed;
    const random = (below: number) => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) % below;
    const past = Array.from({ length: 1 + random(8) }, () => randomRun(random)).flat();
    const current = randomRun(random).slice(0, -2);
    const runId = current[0]!.run!;
    const input = current[0]!.kind === "message" ? current[0]!.body.content : "";
    const system = message(null, "system", "Caller's rules.");
    const items = placeItems([...past, system, ...current], place);
    let refused = 0;
    for (let tokens = 40; tokens < 1500; tokens += 35) {
      let messages;
      try {
        ({ messages } = buildPrompt(items, { runId, instructions: "Ours.", tokens }));
      } catch (error) {
        assert.match(String(error), /instructions need about \d+ tokens, but there is room for \d+/);
        refused++;
        continue;
      }
      assert.deepEqual(messages[0], { role: "system", content: "Ours.\n\nCaller's rules." });
      assert.equal(messages[1]!.role, "user", "a conversation begins with a person");
      assert.ok(
        messages.some((one) => one.role === "user" && String(one.content).startsWith(String(input).slice(0, 5))),
      );
      assert.ok(!messages.some((one) => one.content === "nested"));
      const asked = messages.flatMap((one) =>
        one.role === "assistant" ? (one.calls ?? []).map((call) => call.id) : [],
      );
      const answered = messages.flatMap((one) => (one.role === "tool" ? [one.callId] : []));
      assert.deepEqual(answered, asked, "every call has its result, right after it, in its order");
      assert.equal(new Set(asked).size, asked.length);
      assert.ok(tokensOfTold(messages) <= tokens + 40, "it fits");
    }
    assert.ok(refused <= 3, "only where nothing but the instructions fits");
  }
});

test("a summary stands for what came before it, and is cut last of the past", () => {
  const run = newId();
  const old = newId();
  const summary: BranchItem = {
    id: newId(),
    kind: "summary",
    run: old,
    body: { content: "They spoke of boats.", upToSeq: 2, system: "Caller's rules." },
  };
  const items = placeItems(
    [
      message(old, "user", "early"),
      message(old, "assistant", "early answer", "1"),
      message(old, "user", "late " + "word ".repeat(40)),
      summary,
      message(old, "assistant", "late answer", "2"),
      message(run, "user", "now"),
    ],
    place,
  );
  const told = (tokens: number, more: Partial<PromptOptions> = {}) =>
    buildPrompt(items, { runId: run, instructions: "Ours.", tokens, ...more }).messages.map(({ content }) =>
      String(content),
    );
  const [system, first, ...rest] = told(1000);
  assert.equal(system, "Ours.\n\nCaller's rules.", "what was said to the agent long ago still holds");
  assert.match(first!, /^<summary>[^]*They spoke of boats\.\n<\/summary>\n\nlate word/);
  assert.deepEqual(rest, ["late answer", "now"]);
  assert.match(told(110)[1]!, /^<summary>[^]*boats[^]*<\/summary>\n\nnow$/, "the rest of the past goes first");
  assert.deepEqual(told(30).slice(1), ["now"]);
  assert.deepEqual(
    told(1000, { pastMessages: 2 })
      .slice(1)
      .map((text) => text.slice(0, 4)),
    ["late", "late", "now"],
    "a summary counts as the oldest message",
  );
  assert.deepEqual(told(1000, { pastMessages: 1 }).slice(1), ["now"], "a conversation begins with a person");
  assert.deepEqual(told(1000, { pastMessages: 0 }).slice(1), ["now"]);
  assert.match(told(1000, { pastMessages: 3 })[1]!, /^<summary>/);
});

test("tokens are estimated by script", () => {
  const text = (part: string) => part.repeat(2000);
  assert.equal(estimate(text("word ")), 2500);
  assert.equal(estimate(text("天气")), 4000);
  assert.equal(Math.round(estimate(text("слово ")) / 100), 55);
  assert.equal(estimate("“quoted” – text"), 4);
  assert.equal(estimate(""), 0);
});

anyRunDatabase((suite) => {
  /** A thread with the given items, whose parents are the ones before, unless named. */
  async function thread(userId: string, items: readonly (BranchItem & { parent?: string })[]): Promise<Item[]> {
    const threadId = newId();
    const { query } = suite.database();
    await query("insert into threads (id, user_id, next_seq, leaf) values ($1, $2, $3, $4)", [
      threadId,
      userId,
      items.length + 1,
      items.at(-1)!.id,
    ]);
    const linked = (JSON.parse(itemsParameter(items)) as object[]).map((item, at) => ({
      ...item,
      ...(items[at]!.parent ? { parent: items[at]!.parent } : {}),
    }));
    await query(
      `with t as (select id, user_id, 1::bigint as first, null::uuid as parent from threads where id = $1), i as (${insertItemsSql("$2", "$3")}) select 1`,
      [threadId, JSON.stringify(linked), new Date().toISOString()],
    );
    return placeItems(items, { ...place, threadId });
  }

  test("only the branch that is shown is read", async () => {
    const { caller } = await suite.start({ script: [] });
    const run = newId();
    const root = message(null, "user", "root");
    const left = message(null, "assistant", "left", "1");
    const right = { ...message(null, "assistant", "right", "2"), parent: root.id };
    const input = message(run, "user", "go on");
    const items = await thread(caller.userId, [root, left, right, input]);
    const read = async (leaf: string) =>
      (await readHistory(suite.database().query, { threadId: items[0]!.threadId, runId: run, leaf, tokens: 1000 })).map(
        ({ id }) => id,
      );
    assert.deepEqual(await read(input.id), [root.id, right.id, input.id]);
    assert.deepEqual(await read(left.id), [root.id, left.id]);
  });

  test("of a long thread only its end is read", async () => {
    const service = await suite.start({
      script: ({ messages }) =>
        String(messages[0]!.content).includes("<conversation>")
          ? `The user counted up the messages, with ${/message \d+/.exec(String(messages[0]!.content))![0]} among them.`
          : "ok",
      contextTokens: 2000,
    });
    const history = Array.from({ length: 10_000 }, (_, n) =>
      message(null, n % 2 ? "assistant" : "user", `message ${n}`),
    );
    const items = await thread(service.caller.userId, history);
    const read: number[] = [];
    const database = suite.database();
    const counting = async <Row extends object>(text: string, values?: readonly unknown[]) => {
      const rows = await database.query<Row>(text, values);
      read.push(rows.length);
      return rows;
    };
    const leaf = items.at(-1)!.id;
    const seen = await readHistory(counting, { threadId: items[0]!.threadId, runId: newId(), leaf, tokens: 0 });
    assert.equal(seen.length, 10_000, "a run's own items are all read, and of this one none was found");
    read.length = 0;
    const { text } = await service.ask("hi", { threadId: items[0]!.threadId });
    assert.equal(text, "ok");
    const [system, first] = service.model.requests.at(-1)!.messages;
    assert.deepEqual([system!.role, first!.role], ["system", "user"]);
    assert.match(String(first!.content), /^<summary>/);
    assert.ok(service.model.requests.length <= 9, "the past is taken in parts, and only some contexts of it");
    const [run] = await database.query<{ run_id: string; id: string }>(
      "select run_id, id from items where thread_id = $1 and run_id is not null order by seq limit 1",
      [items[0]!.threadId],
    );
    await readHistory(counting, { threadId: items[0]!.threadId, runId: run!.run_id, leaf: run!.id, tokens: 1000 });
    assert.ok(read.length <= 4 && read.reduce((sum, rows) => sum + rows, 0) <= 700, `read ${read.join(" + ")} rows`);

    const [last] = await database.query<{ id: string; seen: number }>(
      `select id, (select max((body ->> 'upToSeq')::integer) from items where thread_id = $1 and kind = 'summary') as seen
       from items where thread_id = $1 order by seq desc limit 1`,
      [items[0]!.threadId],
    );
    read.length = 0;
    const branch = await readHistory(counting, {
      threadId: items[0]!.threadId,
      runId: run!.run_id,
      leaf: last!.id,
      tokens: 1_000_000,
    });
    assert.equal(branch[0]!.seq, last!.seen + 1, "what a summary stands for is not read");
    assert.deepEqual(read, [128]);
  });

  test("a past that can't be summarised is read as far as a prompt goes", async () => {
    const service = await suite.start({
      script: ({ messages }) => (String(messages[0]!.content).includes("<conversation>") ? "no" : "ok"),
      contextTokens: 2000,
    });
    const history = Array.from({ length: 2000 }, (_, n) =>
      message(null, n % 2 ? "assistant" : "user", `message ${n} ${"word ".repeat(20)}`),
    );
    const [{ threadId } = { threadId: "" }] = await thread(service.caller.userId, history);
    for (let run = 0; run < 3; run++) await service.ask("hi", { threadId });
    const asked = service.model.requests.length;
    const { started } = await service.ask("hi", { threadId });
    assert.equal(service.model.requests.length, asked + 1, "no more tries are made");

    let read: number[] = [];
    const { query } = suite.database();
    const counting = async <Row extends object>(text: string, values?: readonly unknown[]) => {
      const rows = await query<Row>(text, values);
      read.push(rows.length);
      return rows;
    };
    const [leaf] = await query<{ id: string }>("select leaf as id from threads where id = $1", [threadId]);
    const branchFor = async (tokens: number) => {
      read = [];
      return readHistory(counting, { threadId, runId: started.runId, leaf: leaf!.id, tokens });
    };
    const whole = await branchFor(8000);
    const told = whole.reduce((sum, item) => sum + tokensOf(item), 0);
    assert.ok(told > 7900 && told < 8200, `${told} tokens`);
    assert.ok(read.length === 2 && read[0]! + read[1]! < 400, `read ${read.join(" + ")} rows`);
    const failed = (items: readonly Item[]) => items.filter(({ kind, step }) => kind === "notice" && step !== null);
    assert.equal(failed(await branchFor(12)).length, 3, "the tries are told, even if they are longer ago than that");
  });

  test("a message that does not fit is told with its beginning and its end, and a notice says so", async () => {
    const service = await suite.start({ script: ["an answer"], contextTokens: 500 });
    const { events, text, started } = await service.ask(`begin ${"word ".repeat(2000)}end`);
    const end = events.at(-1)!;
    assert.deepEqual([end.type === "run-end" && end.status, text], ["done", "an answer"]);
    const told = String(service.model.requests[0]!.messages.at(-1)!.content);
    assert.match(told, /^begin word[^]*\[… [\d,]+ characters of this message omitted[^]*word end$/);
    const items = await service.threads.listItems(service.caller, started.threadId, {});
    const notices = items.flatMap((item) => (item.kind === "notice" ? [item.body.text] : []));
    assert.match(notices.join(), /^The message is too long for script \(500 tokens\)/);
  });

  test("instructions that do not fit fail the run in plain words", async () => {
    const agent = { instructions: "rule ".repeat(2000), tools: ["now"] };
    const service = await suite.start({ script: [], contextTokens: 500, agent });
    const { events } = await service.ask("hi");
    const end = events.at(-1)!;
    assert.ok(end.type === "run-end" && end.status === "failed");
    assert.equal(end.error?.code, "model_context");
    assert.match(
      end.error!.message,
      /need about 2500 tokens, but there is room for \d+ of the 500 tokens that script holds, .* the largest of which are now\. Shorten them, take tools away, or choose a model with a larger context/,
    );
  });
});
