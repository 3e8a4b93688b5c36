import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { linesOf, memberOf, saidIn, scriptOf, speakerOf } from "../../test/rooms.ts";
import { eachRunDatabase, until, watch } from "../../test/run-suite.ts";
import type { TestRuns } from "../../test/runs.ts";
import { createAgentRegistry } from "../agents/load.ts";
import type { Script } from "../models/scripted.ts";
import { type Caller, callerOf } from "../protocol/callers.ts";
import type { RunEvent } from "../protocol/events.ts";
import { newId } from "../protocol/ids.ts";
import type { Tool } from "../protocol/tools.ts";
import { createUser } from "../store/users.ts";
import { defineTool } from "../tools/define-tool.ts";
import { withRooms } from "./room-agents.ts";
import { roomFileSchema } from "./room-file.ts";
import { createRooms, type Rooms } from "./rooms.ts";
import { roomStrategies } from "./strategies.ts";

type Place = {
  readonly service: TestRuns;
  readonly rooms: Rooms;
  readonly id: string;
  /** The owner of the room, and somebody who was let in. */
  readonly ada: Caller;
  readonly bob: Caller;
  readonly seen: readonly RunEvent[];
  readonly say: (who: Caller, content: string) => Promise<string>;
  /** Until the run has ended. */
  readonly over: (run: string) => Promise<void>;
  readonly lines: () => string[];
};

eachRunDatabase((suite) => {
  async function open(options: { room: object; script: Script; tools?: readonly Tool[] }): Promise<Place> {
    const service = await suite.start({ ...options, strategies: roomStrategies });
    const { database } = service;
    const file = roomFileSchema.parse({ id: "desk", ...withModel(options.room) });
    const agents = withRooms(createAgentRegistry([]), [file]);
    const rooms = createRooms({ query: database.query, runs: service.runs, agents, files: [file] });
    const [ada, bob] = await Promise.all(
      ["ada", "bob"].map(async (name) =>
        callerOf(await createUser(database.query, { name: `${name} ${newId()}`, role: "user" }), "session"),
      ),
    );
    const { id } = await rooms.create(ada!, { kind: "desk" });
    await rooms.addPerson(ada!, id, bob!.name);
    const { seen } = watch(service, { threadId: id, cursor: { seq: 0, live: [] } });
    return {
      ...{ service, rooms, id, ada: ada!, bob: bob!, seen },
      say: async (who, content) => (await rooms.say(who, id, { message: { content } })).runId,
      over: (run) =>
        until(() => seen.some((event) => event.type === "run-end" && event.run === run), "the people's turn"),
      lines: () => saidIn(seen).map((line) => line.replace(/bob_[\w-]+/, "bob")),
    };
  }

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
    const { ada, bob, say, over, seen, lines, rooms, id } = await open({
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

  test("only who began it or the owner decides", async () => {
    const done: string[] = [];
    const send = defineTool({
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
    const call = [{ call: "send", arguments: {} }];
    const { ada, bob, say, over, rooms, id, lines, service, seen } = await open({
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
    await rooms.decide(ada, id, { questionId: other!.id, input: { decision: "allow" } });
    await over(second);
    assert.deepEqual(done, [ada.name, bob.name]);
    assert.equal(seen.filter((event) => event.type === "decision").length, 2);
    const stranger = callerOf(await createUser(service.database.query, { name: newId(), role: "user" }), "session");
    for (const refused of [
      () => rooms.get(stranger, id),
      () => rooms.say(stranger, id, { message: { content: "hi" } }),
      () => rooms.interrupt(stranger, id),
      () => rooms.decide(stranger, id, answer),
      () => rooms.asOwner(stranger, id),
      () => rooms.join(stranger, id),
    ])
      await assert.rejects(refused, { status: 404 });
  });

  test("one agent's turn is stopped, or all: what was said until then stays", async () => {
    const { ada, bob, say, over, rooms, id, lines, seen } = await open({
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
    const { ada, bob, say, over, rooms, id, service, lines } = await open({
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

  test("agents that bounce are stopped with a notice; continue lets them go on", async () => {
    let count = 0;
    const { ada, say, over, lines } = await open({
      room: { members: [memberOf("one"), memberOf("two")], guards: { pair: 4 } },
      script: (request) => `@${speakerOf(request) === "one" ? "two" : "one"} ${++count}`,
    });
    await over(await say(ada, "@one play"));
    const stopped = ["@one: @two 1", "@two: @one 2", "@one: @two 3", "@two: @one 4", "! room_pair"];
    assert.deepEqual(lines(), ["@user: @one play", ...stopped]);
    await over(await say(ada, "Continue."));
    assert.deepEqual(lines().slice(6), [
      "@user: Continue.",
      "@one: @two 5",
      "@two: @one 6",
      "@one: @two 7",
      "@two: @one 8",
      "! room_pair",
    ]);
  });

  test("the same words again and again, and a chain that does not end", async () => {
    const members = ["one", "two", "three"].map((name) => memberOf(name));
    const next = { one: "two", two: "three", three: "one" } as const;
    const passOn: Script = (request) => `@${next[speakerOf(request) as "one"]} go on`;
    const repeating = await open({ room: { members, guards: { repeats: 1 } }, script: passOn });
    await repeating.over(await repeating.say(repeating.ada, "@one go"));
    assert.deepEqual(repeating.lines().slice(-2), ["@one: @two go on", "! room_repeats"]);
    let count = 0;
    const long = await open({
      room: { members, guards: { turns: 5 } },
      script: (request) => `@${next[speakerOf(request) as "one"]} ${++count}`,
    });
    await long.over(await long.say(long.ada, "@one go"));
    assert.deepEqual(long.lines().slice(-2), ["@one: @two 5", "! room_turns"]);
  });

  test("whom nobody knows is pointed out, once", async () => {
    const { ada, say, over, lines } = await open({
      room: { members: [memberOf("one", { activation: "always" })] },
      script: scriptOf({ one: ["Ask @nobody, or `@code`."] }),
    });
    await over(await say(ada, "hi @one"));
    assert.deepEqual(lines(), ["@user: hi @one", "@one: Ask @nobody, or `@code`.", "! unknown_mention"]);
  });

  test("a limit of the room is a wait that people lift", async () => {
    const { ada, say, over, seen, lines } = await open({
      room: { members: [memberOf("one"), memberOf("two")], limits: { steps: 2, onLimit: "pause" } },
      script: scriptOf({ one: ["@two you", "[pass]"], two: ["Me."] }),
    });
    const run = await say(ada, "@one hi");
    await until(() => seen.some((event) => event.type === "run-wait" && event.run === run), "the limit");
    assert.equal(await say(ada, "continue"), run);
    await over(run);
    assert.deepEqual(lines(), ["@user: @one hi", "@one: @two you", "@two: Me.", "@user: continue", "(@one passes)"]);
  });

  test("who may interrupt sees what is about to be run, and stops it with a message", async () => {
    const ran: string[] = [];
    const bash = defineTool({
      name: "bash",
      description: "Runs.",
      input: z.object({ cmd: z.string() }),
      effect: "read",
      execute({ cmd }) {
        ran.push(cmd);
        return "ok";
      },
    });
    const run = (cmd: string) => [{ text: "Now. " }, { call: "bash", arguments: { cmd } }];
    const { ada, say, over, lines, seen, service } = await open({
      room: {
        members: [
          memberOf("code", { tools: ["*"] }),
          memberOf("reviewer", { activation: "mention", mayInterrupt: true }),
        ],
      },
      tools: [bash],
      script: scriptOf({
        code: [run("ls"), run("rm -rf /"), "Then not."],
        reviewer: (request) => {
          const [last] = linesOf(request).slice(-1);
          if (!last?.includes("[about to run: ")) return "[pass]";
          return last.includes("rm -rf") ? "Hold on, @code: not that." : "[pass]";
        },
      }),
    });
    await over(await say(ada, "@code clean up"));
    assert.deepEqual(ran, ["ls"]);
    assert.deepEqual(lines(), [
      "@user: @code clean up",
      "@code: Now. ",
      "(@reviewer passes)",
      "@code: Now. ",
      "@reviewer: Hold on, @code: not that.",
      "@code: Then not.",
      "(@reviewer passes)",
    ]);
    const results = seen.flatMap((event) => (event.type === "call-end" ? [event.item.body.content] : []));
    assert.deepEqual(results, ["ok", "Not run: @reviewer has stopped this turn."]);
    const watching = service.model.requests.filter((request) => speakerOf(request) === "reviewer");
    assert.equal(watching[0]?.tools, undefined);
    assert.match(
      linesOf(watching[1]!).at(-1)!,
      /\[@code\]: Now\. .*\[ran: ls\]\n\[result\]: ok\n\[about to run: rm -rf \/\]$/s,
    );
  });

  test("in parallel all that a message wakes think at the same time, each with what was there at its start", async () => {
    const both = Promise.withResolvers<void>();
    let begun = 0;
    const together = {
      gate: () => {
        if (++begun === 2) both.resolve();
        return both.promise;
      },
    };
    const { ada, bob, say, over, lines, seen, service } = await open({
      room: { members: [memberOf("one"), memberOf("two"), memberOf("three")], turns: "parallel" },
      script: scriptOf({
        one: [[together, { text: "One." }]],
        two: [[together, { text: "Two, @three?" }]],
        three: ["Three.", "Again three."],
      }),
    });
    const run = await say(ada, "@one @two go");
    await over(run);
    const said = lines();
    assert.deepEqual([...said.slice(1, 3)].sort(), ["@one: One.", "@two: Two, @three?"]);
    assert.deepEqual(said.slice(3), ["@three: Three."]);
    const first = service.model.requests.slice(0, 2).map(linesOf);
    assert.deepEqual(first, [["user: [@user]: @one @two go"], ["user: [@user]: @one @two go"]]);
    assert.ok(seen.findIndex((event) => event.type === "message" && event.item.author !== "user") > 2);
    await over(await say(bob, "@three once more"));
    assert.equal(lines().at(-1), "@three: Again three.");
  });

  test("who always listens is woken by words, or if a model says so; who is named, always", async () => {
    const { ada, say, over, lines, service } = await open({
      room: {
        members: [
          memberOf("bell", { activation: "always", wake: { words: ["price"] } }),
          memberOf("guard", { activation: "always", wake: { model: "script", question: "Is this about money?" } }),
          memberOf("lost", { activation: "always", wake: { model: "nowhere", question: "Is it?" } }),
        ],
      },
      script: (request) => {
        const { messages } = request;
        if (String(messages[0]!.content).startsWith("Is this about money?"))
          return String(messages[1]!.content).includes("pay") ? "Yes." : "No, it is not.";
        return speakerOf(request) === "lost" ? "[pass]" : "Here.";
      },
    });
    await over(await say(ada, "hello"));
    await over(await say(ada, "what PRICE?"));
    await over(await say(ada, "who will pay?"));
    await over(await say(ada, "@guard hello"));
    assert.deepEqual(
      lines().filter((line) => !line.includes("passes")),
      [
        "@user: hello",
        "@user: what PRICE?",
        "@bell: Here.",
        "@user: who will pay?",
        "@guard: Here.",
        "@user: @guard hello",
        "@guard: Here.",
      ],
    );
    const judged = service.model.requests.filter(({ messages }) => String(messages[0]!.content).startsWith("Is this"));
    // Of each message that nobody had answered before its turn came, and never of one that names it.
    assert.ok(judged.length >= 2 && judged.every(({ messages }) => !String(messages[1]!.content).includes("@guard")));
  });

  test("what is said to some only, the others are neither told nor woken by", async () => {
    const members = [
      memberOf("one"),
      memberOf("two", { activation: "always" }),
      memberOf("three", { activation: "always" }),
    ];
    const { ada, say, over, lines, service } = await open({
      room: { members, private: true },
      script: scriptOf({
        one: ["/private @two the code is 7", "Now all: @three hi"],
        two: ["/private @one understood"],
        three: ["Hi."],
      }),
    });
    await over(await say(ada, "@one tell @two"));
    await over(await say(ada, "@three what was it?"));
    const told = service.model.requests.filter((request) => speakerOf(request) === "three").flatMap(linesOf);
    assert.ok(told.length > 0 && !told.some((line) => line.includes("7") || line.includes("understood")));
    const two = service.model.requests.filter((request) => speakerOf(request) === "two").flatMap(linesOf);
    assert.ok(two.some((line) => line.includes("the code is 7")));
    // People see it all the same.
    assert.ok(lines().includes("@one: /private @two the code is 7"));
    const system = String(service.model.requests[0]!.messages[0]!.content);
    assert.match(system, /begin your message with: \/private @name/);
  });
});

function withModel(room: object): object {
  const { members } = room as { readonly members: readonly object[] };
  return { ...room, members: members.map((member) => ({ model: "script", ...member })) };
}
