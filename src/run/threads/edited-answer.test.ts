import assert from "node:assert/strict";
import { test } from "node:test";
import { anyRunDatabase } from "../../../test/run-suite.ts";
import { newId } from "../../protocol/base/ids.ts";
import { textOf } from "../../protocol/threads/items.ts";

anyRunDatabase((suite) => {
  async function talk() {
    const service = await suite.start({
      script: [
        [{ text: "See." }, { call: "now", arguments: {} }],
        [{ reasoning: "Hm." }, { text: "Noon." }],
        "Bye.",
        "Later.",
      ],
    });
    const { started } = await service.ask("what time is it?");
    const { threadId, runId } = started;
    await service.ask("thanks", { threadId });
    const branch = () => service.threads.listBranch(service.caller, threadId);
    const messages = async () => (await branch()).flatMap((item) => (item.kind === "message" ? [item] : []));
    const said = async () => (await messages()).map(({ body }) => textOf(body.content));
    const find = async (text: string) => (await messages()).find(({ body }) => textOf(body.content) === text)!;
    const edit = async (text: string, content: string, id = newId()) => {
      const instead = (await find(text)).id;
      return service.threads.editMessage(service.caller, { threadId, message: { id, content }, instead });
    };
    return { service, threadId, runId, branch, messages, said, find, edit };
  }

  test("an answer gets other words: beside the first, marked, and without a run", async () => {
    const { service, threadId, runId, find, said, edit, messages } = await talk();
    const original = await find("Noon.");
    const runs = await service.runs.list(service.caller, { threadId });
    const ledger = await service.database.query("select * from ledger");
    const { messageId } = await edit("Noon.", "Half past noon.");
    assert.deepEqual(await said(), ["what time is it?", "See.", "Half past noon.", "thanks", "Bye."]);
    const edited = (await messages()).find(({ id }) => id === messageId)!;
    assert.deepEqual(
      [edited.parentId, edited.author, edited.runId, edited.step],
      [original.parentId, "assistant", null, null],
    );
    const { by, at, of } = edited.body.edited!;
    assert.deepEqual([by, of, Number.isNaN(Date.parse(at))], [service.caller.name, original.id, false]);
    assert.equal(edited.body.model, "script");
    assert.deepEqual([edited.body.reasoning, edited.body.usage, edited.body.finish], [undefined, undefined, undefined]);
    // Nothing was run, and all that the run did is still the run's.
    assert.deepEqual(await service.runs.list(service.caller, { threadId }), runs);
    assert.deepEqual(await service.database.query("select * from ledger"), ledger);
    const all = await service.threads.listItems(service.caller, threadId, {});
    assert.deepEqual(
      all.find(({ id }) => id === original.id),
      original,
    );
    assert.equal((await service.runs.details(service.caller, { runId })).run.status, "done");
  });

  test("models read the new words; the first ones can be gone back to, and edited anew", async () => {
    const { service, threadId, find, said, edit } = await talk();
    const original = await find("Noon.");
    await edit("Noon.", "Midnight.");
    await service.ask("and now?", { threadId });
    const asked = service.model.requests.at(-1)!.messages.filter(({ role }) => role !== "system");
    assert.deepEqual(
      asked.map(({ role, content }) => [role, role === "tool" ? "" : content]),
      [
        ["user", "what time is it?"],
        ["assistant", "See."],
        ["tool", ""],
        ["assistant", "Midnight."],
        ["user", "thanks"],
        ["assistant", "Bye."],
        ["user", "and now?"],
      ],
    );
    await edit("Midnight.", "Morning.");
    assert.deepEqual((await find("Morning.")).body.edited!.of, original.id);
    await service.threads.chooseBranch(service.caller, threadId, original.id);
    assert.equal((await said())[2], "Noon.");
  });

  test("sent again it is not done again; nothing, pictures, calls and what is foreign are refused", async () => {
    const { service, threadId, find, edit } = await talk();
    const id = newId();
    const first = await edit("Noon.", "Midnight.", id);
    const instead = (await find("Midnight.")).body.edited!.of;
    const change = (
      content: Parameters<typeof service.threads.editMessage>[1]["message"]["content"],
      caller = service.caller,
    ) => service.threads.editMessage(caller, { threadId, message: { id: newId(), content }, instead });
    const again = await service.threads.editMessage(service.caller, {
      threadId,
      message: { id, content: "x" },
      instead,
    });
    assert.equal(again.thread.lastSeq, first.thread.lastSeq);
    await assert.rejects(change(" \n"), { status: 400 });
    await assert.rejects(
      change([
        { type: "image", url: "data:image/png;base64,AA" },
        { type: "text", text: "x" },
      ]),
      {
        status: 400,
      },
    );
    await assert.rejects(edit("See.", "x"), { code: "message_has_calls" });
    await assert.rejects(change("x", { ...service.caller, userId: newId() }), { status: 404 });
    await service.database.query(`update items set body = '{"erased": true}' where id = $1`, [instead]);
    await assert.rejects(change("x"), { status: 404 });
  });

  test("what an unchanged part cites is still cited, at its place; the rest is not", async () => {
    const { service, threadId, find, edit } = await talk();
    const source = { kind: "web" as const, title: "A" };
    const text = "Noon [1], he said “so it was then” [2] and again [3].";
    const at = (mark: string) => ({ start: text.indexOf(mark), end: text.indexOf(mark) + mark.length });
    const citations = [
      { source, number: 1, ...at("[1]") },
      { source, number: 2, ...at("[2]"), quote: "so it was then", found: true },
      { source, number: 3, ...at("[3]") },
    ];
    const id = newId();
    const body = { role: "assistant" as const, content: text, citations };
    await service.threads.addItems(service.caller, threadId, [{ id, kind: "message", author: "assistant", body }]);
    const change = async (content: string) => {
      await service.threads.chooseBranch(service.caller, threadId, id);
      await edit(text, content);
      const { body } = await find(content);
      return (body.citations ?? []).map(({ number, start, end }) => [number, content.slice(start, end)]);
    };
    assert.deepEqual(await change(`${text} More.`), [
      [1, "[1]"],
      [2, "[2]"],
      [3, "[3]"],
    ]);
    assert.deepEqual(await change(`Well: ${text}`), [
      [1, "[1]"],
      [2, "[2]"],
      [3, "[3]"],
    ]);
    assert.deepEqual(await change(text.replace("so it", "so she")), [
      [1, "[1]"],
      [3, "[3]"],
    ]);
    assert.deepEqual(await change("Nothing [1]."), []);
  });
});
