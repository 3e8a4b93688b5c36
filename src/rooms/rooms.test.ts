import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { openRoom } from "../../test/room-place.ts";
import { linesOf, memberOf, scriptOf } from "../../test/rooms.ts";
import { anyRunDatabase, until } from "../../test/run-suite.ts";
import { type Caller, callerOf } from "../protocol/base/callers.ts";
import { newId } from "../protocol/base/ids.ts";
import { silentLog } from "../protocol/base/log.ts";
import { presentIn } from "../store/rooms/room-presence.ts";
import { removePerson } from "../store/rooms/rooms.ts";
import { createUser } from "../store/people/users.ts";
import { defineTool } from "../tools/core/define-tool.ts";
import { createPresence } from "./presence.ts";

/** Asks before it is run; keeps in whose name it was. */
function sendTool(done: string[]) {
  return defineTool({
    name: "send",
    description: "Sends.",
    input: z.object({}),
    effect: "write",
    sendsOut: true,
    execute: (_input, { caller }) => {
      done.push(caller.name);
      return "sent";
    },
  });
}

anyRunDatabase((suite) => {
  test("what somebody says while agents work is seen at once and heard next, each chain in the name of its person", async () => {
    const gate = Promise.withResolvers<void>();
    const names: string[] = [];
    const whoami = defineTool({
      name: "whoami",
      description: "Who asks.",
      input: z.object({}),
      effect: "read",
      execute: (_input, { caller }) => {
        names.push(caller.name);
        return caller.name;
      },
    });
    const ask = [{ call: "whoami", arguments: {} }];
    const { ada, bob, say, over, seen, lines, rooms, id } = await openRoom(suite, {
      room: { members: [memberOf("one", { tools: ["*"] }), memberOf("two", { tools: ["*"] })] },
      tools: [whoami],
      script: scriptOf({
        one: [[{ gate: () => gate.promise }, ...ask], "@two your turn", "Bye."],
        two: [ask, "For you.", ask, "Done, @one."],
      }),
    });
    const run = await say(ada, "@one begin");
    await until(() => seen.some((event) => event.type === "turn-start"), "a turn");
    assert.equal((await rooms.get(bob, id)).members.find(({ handle }) => handle === "one")?.kind, "agent");
    assert.equal(await say(bob, "@two and me?"), run);
    await until(() => lines().includes("@bob: @two and me?"), "what was said");
    gate.resolve();
    await over(run);
    assert.deepEqual(lines(), [
      "@user: @one begin",
      "@bob: @two and me?",
      "@one: @two your turn",
      "@two: For you.",
      "@two: Done, @one.",
      "@one: Bye.",
    ]);
    assert.deepEqual(names, [ada.name, bob.name, ada.name]);
    assert.equal((await rooms.get(bob, id)).run, null);
  });

  test("what is sent twice is said once, also while agents work and by others than who began", async () => {
    const gate = Promise.withResolvers<void>();
    const { ada, bob, say, over, lines, rooms, id, service } = await openRoom(suite, {
      room: { members: [memberOf("one")] },
      script: scriptOf({ one: [[{ gate: () => gate.promise }, { text: "Yes." }]] }),
    });
    const run = await say(ada, "@one?");
    const message = { id: newId(), content: "me too" };
    const twice = { message, idempotency: { key: "a key", bodyHash: "same" } };
    const [first, second] = [await rooms.say(bob, id, twice), await rooms.say(bob, id, twice)];
    assert.deepEqual([first.runId, second.runId, second.replayed], [run, run, true]);
    const [third, fourth] = [
      await rooms.say(bob, id, { message: { content: "and" }, idempotency: { key: "other", bodyHash: "x" } }),
      await rooms.say(bob, id, { message: { content: "and" }, idempotency: { key: "other", bodyHash: "x" } }),
    ];
    assert.deepEqual([third.runId, fourth.replayed], [run, true]);
    // Another's key is another key.
    await rooms.say(ada, id, { message: { content: "and I" }, idempotency: { key: "other", bodyHash: "y" } });
    gate.resolve();
    await over(run);
    assert.deepEqual(lines(), ["@user: @one?", "@bob: me too", "@bob: and", "@user: and I", "@one: Yes."]);
    await assert.rejects(
      rooms.say(bob, id, { message: { content: "else" }, idempotency: { key: "other", bodyHash: "z" } }),
      { status: 422 },
    );
    assert.equal((await service.runs.get(ada, run)).status, "done");
  });

  test("who has the room open is told to all who have", async () => {
    const { ada, bob, rooms, id, service } = await openRoom(suite, {
      room: { members: [memberOf("one")] },
      script: [],
    });
    const presence = createPresence({ query: service.database.query, log: silentLog });
    const told: string[] = [];
    const enter = (who: Caller) =>
      presence.enter({ roomId: id, userId: who.userId }, (people) =>
        told.push(people.map(({ present }) => (present ? "in" : "out")).join()),
      );
    const first = enter(ada);
    await until(() => told.at(-1) === "in,out", "the first");
    const second = enter(bob);
    await until(() => told.filter((text) => text === "in,in").length === 2, "both");
    second.leave();
    await until(() => told.at(-1) === "in,out", "one left");
    await rooms.removePerson(ada, id, (await rooms.get(bob, id)).you);
    presence.changed(id);
    await until(() => told.at(-1) === "in", "one let out");
    first.leave();
    await until(async () => (await presentIn(service.database.query, id)).length === 0, "nobody");
    presence.close();
  });

  test("only who began it or the owner decides", async () => {
    const done: string[] = [];
    const send = sendTool(done);
    const call = [{ call: "send", arguments: {} }];
    const { ada, bob, say, over, rooms, id, lines, service, seen } = await openRoom(suite, {
      room: { members: [memberOf("one", { tools: ["*"] }), memberOf("two")] },
      tools: [send],
      script: scriptOf({ one: [call, "Sent.", call, "Sent too."], two: ["I am here."] }),
    });
    const first = await say(ada, "@one send it");
    await until(async () => (await rooms.questions(bob, id)).length > 0, "the question");
    const [question] = await rooms.questions(bob, id);
    const answer = { questionId: question!.id, input: { decision: "allow" as const } };
    await assert.rejects(rooms.decide(bob, id, answer), { status: 403 });
    // The rest of the room goes on meanwhile.
    await until(async () => (await rooms.get(ada, id)).run?.status === "waiting", "the wait");
    assert.equal((await rooms.get(ada, id)).members[0]?.kind === "agent" && "waiting", "waiting");
    await say(bob, "@two are you there?");
    await until(() => lines().includes("@two: I am here."), "the other agent");
    await rooms.decide(ada, id, answer);
    await over(first);
    // The owner may decide for others.
    const second = await say(bob, "@one send it again");
    await until(async () => (await rooms.questions(ada, id)).length > 0, "the question");
    const [other] = await rooms.questions(ada, id);
    const changed = { decision: "allow", arguments: '{"to":"ada"}' } as const;
    await assert.rejects(rooms.decide(ada, id, { questionId: other!.id, input: changed }), /can change the arguments/);
    const kept = { decision: "allow", always: true, here: true, read: true } as const;
    await rooms.decide(ada, id, { questionId: other!.id, input: kept });
    assert.deepEqual(await service.approvals.grants(bob), [], "nothing holds for bob from now on");
    await over(second);
    assert.deepEqual(done, [ada.name, bob.name]);
    assert.equal(seen.filter((event) => event.type === "decision").length, 2);
    const stranger = callerOf(await createUser(service.database.query, { name: newId(), role: "user" }), "session");
    for (const refused of [
      () => rooms.get(stranger, id),
      () => rooms.say(stranger, id, { message: { content: "hi" } }),
      () => rooms.interrupt(stranger, id),
      () => rooms.decide(stranger, id, answer),
      () => rooms.ownerOf(stranger, id),
      () => rooms.join(stranger, id),
    ])
      await assert.rejects(refused, { status: 404 });
  });

  test("who decides for a turn of their own wakes the room, also if another began its run", async () => {
    const done: string[] = [];
    const call = [{ call: "send", arguments: {} }];
    const { ada, bob, say, over, rooms, id, lines, service } = await openRoom(suite, {
      room: { members: [memberOf("one", { tools: ["*"] }), memberOf("two", { tools: ["*"] })] },
      tools: [sendTool(done)],
      script: scriptOf({ one: [call, "Sent.", call], two: [call, "Sent as well.", call, "Never."] }),
    });
    const { runs, approvals } = service;
    const asked = async (agent: string) => {
      const { members } = await rooms.get(ada, id);
      const turn = members.flatMap((one) => (one.kind === "agent" && one.handle === agent ? [one.run] : []))[0];
      const question = (await rooms.questions(ada, id)).find(({ runId }) => runId === turn);
      return turn !== undefined && question ? { turn, questionId: question.id } : undefined;
    };
    const bothAsk = async () => {
      const root = await say(ada, "@one go");
      await until(async () => (await asked("one")) !== undefined, "the first question");
      assert.equal(await say(bob, "@two go"), root);
      await until(async () => (await asked("two")) !== undefined, "the second question");
      await until(async () => (await runs.get(ada, root)).status === "waiting", "the wait");
      return { root, one: (await asked("one"))!, two: (await asked("two"))! };
    };
    const allow = { decision: "allow" as const };

    const { root, one, two } = await bothAsk();
    await rooms.decide(ada, id, { questionId: one.questionId, input: allow });
    await until(() => lines().includes("@one: Sent."), "the first turn");
    await until(async () => (await runs.get(ada, root)).status === "waiting", "the wait");
    await assert.rejects(approvals.decide(ada, two.turn, { questionId: two.questionId, input: allow }), {
      status: 404,
    });
    assert.equal((await approvals.decide(bob, two.turn, { questionId: two.questionId, input: allow })).id, two.turn);
    await over(root);
    assert.deepEqual(done, [ada.name, bob.name]);
    assert.equal((await runs.get(ada, root)).status, "done");

    // Cancelled, a turn leaves the run that it is a part of to those who began it.
    const again = await bothAsk();
    assert.equal((await runs.cancel(ada, again.one.turn)).status, "cancelled");
    await assert.rejects(runs.cancel(bob, again.root), { status: 404 });
    assert.equal((await runs.cancel(bob, again.two.turn)).status, "cancelled");
    await over(again.root);
    assert.equal((await runs.get(ada, again.root)).status, "done");
  });

  test("a run of a room is steered under one's handle there, and by nobody who has left", async () => {
    const gate = Promise.withResolvers<void>();
    const done: string[] = [];
    const call = [{ call: "send", arguments: {} }];
    const { ada, bob, say, over, rooms, id, lines, service } = await openRoom(suite, {
      room: { members: [memberOf("one"), memberOf("two", { tools: ["*"] })] },
      tools: [sendTool(done)],
      script: scriptOf({ one: [[{ gate: () => gate.promise }, { text: "Yes." }]], two: [call] }),
    });
    const { runs, approvals, database } = service;
    const run = await say(bob, "@one?");
    const { messageId } = await runs.steer(bob, run, { content: "@one and this" });
    const callers = await database.query("select user_id from room_callers where message_id = $1", [messageId]);
    assert.deepEqual(callers, [{ user_id: bob.userId }]);
    gate.resolve();
    await over(run);
    assert.deepEqual(lines(), ["@bob: @one?", "@bob: @one and this", "@one: Yes."]);

    const last = await say(bob, "@two send it");
    await until(async () => (await rooms.questions(ada, id)).length > 0, "the question");
    const question = (await rooms.questions(ada, id))[0]!;
    const { you } = await rooms.get(bob, id);
    // As if it were not stopped yet.
    await removePerson(database.query, id, you);
    for (const refused of [
      () => runs.steer(bob, last, { content: "It is me, the owner." }),
      () => approvals.decide(bob, question.runId!, { questionId: question.id, input: { decision: "allow" } }),
      () => runs.cancel(bob, last),
    ])
      await assert.rejects(refused, { status: 404 });
    assert.equal((await runs.get(bob, last)).status, "waiting");
    await rooms.addPerson(ada, id, bob.name);
    await rooms.removePerson(ada, id, you);
    // What was begun in the name of who left has been stopped.
    await over(last);
    assert.equal((await runs.get(bob, last)).status, "cancelled");
    assert.deepEqual([done, lines().length], [[], 4]);
  });

  test("a room is none of its owner's chats, and is spoken to by its door alone", async () => {
    const { ada, say, over, id, service } = await openRoom(suite, {
      room: { members: [memberOf("one")] },
      tools: [sendTool([])],
      script: scriptOf({ one: ["A rare word: quokka."] }),
    });
    const { runs, threads } = service;
    await over(await say(ada, "@one hello"));
    assert.deepEqual(await threads.listThreads(ada, {}), []);
    assert.deepEqual(await threads.listSessions(ada, {}), []);
    assert.deepEqual(await threads.searchThreads(ada, { text: "quokka" }), []);
    assert.equal((await threads.getThread(ada, id)).id, id);
    const message = { content: "hello" };
    const { lastSeq } = await threads.getThread(ada, id);
    for (const refused of [
      () => runs.start(ada, { agent: "assistant", message, threadId: id }),
      () => runs.start(ada, { agent: "assistant", message, sessionKey: id, mode: "steer" }),
      () => runs.callTool(ada, { tool: "send", arguments: "{}", threadId: id }),
    ])
      await assert.rejects(refused, { status: 409, code: "thread_is_room" });
    assert.equal((await threads.getThread(ada, id)).lastSeq, lastSeq);
    // A copy of it is a thread like every other.
    const { id: copy } = await threads.forkThread(ada, id);
    assert.deepEqual(
      (await threads.listThreads(ada, {})).map((thread) => thread.id),
      [copy],
    );
  });

  test("one agent's turn is stopped, or all: what was said until then stays", async () => {
    const { ada, bob, say, over, rooms, id, lines, seen } = await openRoom(suite, {
      room: { members: [memberOf("one", { activation: "always" }), memberOf("two")] },
      script: scriptOf({
        one: [[{ text: "Well, let me" }, { hang: true }], [{ text: "Once more" }, { hang: true }], "I see."],
        two: [],
      }),
    });
    const told = (text: string) => seen.some((event) => event.type === "text-delta" && event.text === text);
    const first = await say(ada, "go");
    await until(() => told("Well, let me"), "its text");
    assert.equal((await rooms.interrupt(bob, id, "two")).length, 0);
    assert.equal((await rooms.interrupt(bob, id, "one")).length, 1);
    await over(first);
    const second = await say(ada, "again");
    await until(() => told("Once more"), "its text");
    await rooms.interrupt(ada, id);
    await over(second);
    const end = seen.findLast((event) => event.type === "run-end");
    assert.deepEqual(end?.type === "run-end" && [end.run, end.status], [second, "cancelled"]);
    await over(await say(ada, "and now?"));
    assert.deepEqual(lines(), [
      "@user: go",
      "@one: Well, let me …",
      "@user: again",
      "@one: Once more …",
      "@user: and now?",
      "@one: I see.",
    ]);
  });

  test("a new chapter: agents know nothing of before", async () => {
    const { ada, bob, say, over, rooms, id, service, lines } = await openRoom(suite, {
      room: { members: [memberOf("one", { activation: "always" })] },
      script: scriptOf({ one: ["First.", "Second."] }),
    });
    await over(await say(ada, "a secret"));
    const { chapter } = await rooms.beginChapter(bob, id);
    assert.ok(chapter > 0);
    await over(await say(ada, "what do you know?"));
    assert.deepEqual(linesOf(service.model.requests[1]!), ["user: [@user]: what do you know?"]);
    assert.deepEqual(lines(), ["@user: a secret", "@one: First.", "@user: what do you know?", "@one: Second."]);
  });
});
