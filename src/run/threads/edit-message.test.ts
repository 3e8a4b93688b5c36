import assert from "node:assert/strict";
import { test } from "node:test";
import { anyRunDatabase, until, watch } from "../../../test/run-suite.ts";
import { newId } from "../../protocol/base/ids.ts";
import { textOf } from "../../protocol/threads/items.ts";

anyRunDatabase((suite) => {
  /** Two questions, the first answered with a tool. */
  async function talk() {
    const service = await suite.start({
      script: [[{ text: "See." }, { call: "now", arguments: {} }], "Noon.", "You are welcome.", "Later then."],
    });
    const { started } = await service.ask("what time is it?");
    const { threadId } = started;
    await service.ask("thanks", { threadId });
    const branch = () => service.threads.listBranch(service.caller, threadId);
    const said = async () =>
      (await branch()).flatMap((item) => (item.kind === "message" ? [textOf(item.body.content)] : []));
    const edit = async (text: string, content: string, id = newId()) => {
      const item = (await branch()).find((each) => each.kind === "message" && textOf(each.body.content) === text);
      const instead = item?.id ?? text;
      return service.threads.editMessage(service.caller, { threadId, message: { id, content }, instead });
    };
    return { service, threadId, branch, said, edit };
  }

  test("a message gets other words, and what came after stays, without a run", async () => {
    const { service, threadId, branch, said, edit } = await talk();
    const before = await branch();
    const runs = await service.runs.list(service.caller, { threadId });
    const { thread, messageId } = await edit("what time is it?", "what time is it there?");
    assert.deepEqual(await said(), ["what time is it there?", "See.", "Noon.", "thanks", "You are welcome."]);
    const after = await branch();
    assert.equal(thread.leaf, after.at(-1)!.id);
    assert.equal(thread.lastSeq, after.at(-1)!.seq);
    assert.equal(after[0]!.id, messageId);
    assert.ok(after.every(({ runId }) => runId === null));
    // The call and its result are one still.
    const [call, result] = after.filter(({ kind }) => kind === "call" || kind === "result");
    assert.deepEqual([call!.step, call!.index], [result!.step, result!.index]);
    assert.deepEqual(await service.runs.list(service.caller, { threadId }), runs);

    // What was first is still there, and can be gone back to.
    await service.threads.chooseBranch(service.caller, threadId, before.at(-1)!.id);
    assert.equal((await said())[0], "what time is it?");
    await edit("thanks", "thank you");
    assert.deepEqual(await said(), ["what time is it?", "See.", "Noon.", "thank you", "You are welcome."]);
    await service.ask("and now?", { threadId });
    assert.equal((await said()).at(-1), "Later then.");
    const asked = service.model.requests.at(-1)!.messages.filter(({ role }) => role === "user");
    assert.deepEqual(
      asked.map(({ content }) => content),
      ["what time is it?", "thank you", "and now?"],
    );
  });

  test("sent again it is not done again; nothing and nobody's are refused", async () => {
    const { service, threadId, edit } = await talk();
    const id = newId();
    const first = await edit("thanks", "thank you", id);
    const again = await edit("thank you", "something else", id);
    assert.equal(again.thread.lastSeq, first.thread.lastSeq);
    await assert.rejects(edit("thank you", " \n"), { status: 400 });
    await assert.rejects(edit(newId(), "x"), { status: 404 });
    await assert.rejects(edit("See.", "x"), { status: 409, code: "message_has_calls" });
    const stranger = { ...service.caller, userId: newId() };
    const other = { threadId, message: { content: "x" }, instead: first.messageId };
    await assert.rejects(service.threads.editMessage(stranger, other), { status: 404 });
  });

  test("an id that something else has is refused", async () => {
    const { service, threadId, branch, edit } = await talk();
    const items = await branch();
    for (const { id } of items) await assert.rejects(edit("thanks", "x", id), { status: 422 });
    const elsewhere = await service.threads.createThread(service.caller, {});
    const theirs = newId();
    await service.database.query(
      `insert into items (thread_id, seq, id, user_id, kind, author, body) values ($1, 1, $2, $3, 'message', 'x', '{"role": "user", "content": "x"}')`,
      [elsewhere.id, theirs, service.caller.userId],
    );
    await assert.rejects(edit("thanks", "x", theirs), { status: 422 });
    assert.deepEqual(await branch(), items);
    assert.equal((await service.threads.getThread(service.caller, threadId)).lastSeq, items.at(-1)!.seq);
  });

  test("whoever follows the thread is told of the copies", async () => {
    const { service, threadId, branch, edit } = await talk();
    const from = (await branch()).at(-1)!.seq;
    const { seen, close } = watch(service, { threadId, cursor: { seq: from, live: [] } });
    await edit("what time is it?", "what time is it there?");
    const copies = (await branch()).map(({ id }) => id);
    const told = () => seen.flatMap((event) => ("item" in event ? [event.item.id] : []));
    await until(() => told().length === copies.length);
    assert.deepEqual(told(), copies);
    close();
  });
});
