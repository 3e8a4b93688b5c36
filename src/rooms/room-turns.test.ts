import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { openRoom } from "../../test/room-place.ts";
import { linesOf, memberOf, scriptOf, speakerOf } from "../../test/rooms.ts";
import { anyRunDatabase, until } from "../../test/run-suite.ts";
import type { Script } from "../models/demo/scripted.ts";
import { defineTool } from "../tools/core/define-tool.ts";

anyRunDatabase((suite) => {
  test("agents that bounce are stopped with a notice; continue lets them go on", async () => {
    let count = 0;
    const { ada, say, over, lines } = await openRoom(suite, {
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
    const repeating = await openRoom(suite, { room: { members, guards: { repeats: 1 } }, script: passOn });
    await repeating.over(await repeating.say(repeating.ada, "@one go"));
    assert.deepEqual(repeating.lines().slice(-2), ["@one: @two go on", "! room_repeats"]);
    await repeating.service.stop(0);
    let count = 0;
    const long = await openRoom(suite, {
      room: { members, guards: { turns: 5 } },
      script: (request) => `@${next[speakerOf(request) as "one"]} ${++count}`,
    });
    await long.over(await long.say(long.ada, "@one go"));
    assert.deepEqual(long.lines().slice(-2), ["@one: @two 5", "! room_turns"]);
  });

  test("whom nobody knows is pointed out, once", async () => {
    const { ada, say, over, lines } = await openRoom(suite, {
      room: { members: [memberOf("one", { activation: "always" })] },
      script: scriptOf({ one: ["Ask @nobody, or `@code`."] }),
    });
    await over(await say(ada, "hi @one"));
    assert.deepEqual(lines(), ["@user: hi @one", "@one: Ask @nobody, or `@code`.", "! unknown_mention"]);
  });

  test("a limit of the room is a wait that people lift", async () => {
    const { ada, say, over, seen, lines } = await openRoom(suite, {
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
    const { ada, say, over, lines, seen, service } = await openRoom(suite, {
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
    const { ada, bob, say, over, lines, seen, service } = await openRoom(suite, {
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
    const { ada, say, over, lines, service } = await openRoom(suite, {
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
    const { ada, say, over, lines, service } = await openRoom(suite, {
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

  test("in parallel a room rests while a tool runs", async (t) => {
    const held = Promise.withResolvers<void>();
    const wait = defineTool({
      name: "wait",
      description: "Waits.",
      input: z.object({}),
      effect: "read",
      async execute() {
        await held.promise;
        return "ok";
      },
    });
    const database = suite.database();
    let looks = 0;
    database.onTrip = (text) => {
      if (text.includes("kind in ('message', 'call', 'state', 'notice')")) looks++;
    };
    t.after(() => delete database.onTrip);
    const { ada, say, over, seen, lines } = await openRoom(suite, {
      room: { members: [memberOf("one", { tools: ["*"] }), memberOf("two")], turns: "parallel" },
      tools: [wait],
      script: scriptOf({ one: [[{ call: "wait", arguments: {} }], "Done."], two: ["Here."] }),
    });
    const run = await say(ada, "@one wait");
    await until(() => seen.some((event) => event.type === "call-start"), "the call");
    const before = looks;
    // Time enough to look as often.
    for (let trips = 0; trips < 100; trips++) await database.query("select 1");
    assert.ok(looks - before <= 3, `it looked ${looks - before} times`);
    // What is said is heard at once all the same.
    await say(ada, "@two and you?");
    await until(() => lines().includes("@two: Here."), "the other");
    held.resolve();
    await over(run);
    assert.equal(lines().at(-1), "@one: Done.");
  });

  test("a person of the room who has not spoken is somebody", async () => {
    const { ada, bob, rooms, id, say, over, lines } = await openRoom(suite, {
      room: { members: [memberOf("one", { activation: "always" })] },
      script: scriptOf({ one: ["Hello.", "Yes."] }),
    });
    const { you } = await rooms.get(bob, id);
    await over(await say(ada, `@${you} are you there?`));
    await over(await say(ada, `@${you} and @nobody?`));
    assert.equal(lines().filter((line) => line.startsWith("!")).length, 1);
  });
});
