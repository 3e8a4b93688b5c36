import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { openRoom } from "../../test/room-place.ts";
import { memberOf, scriptOf } from "../../test/rooms.ts";
import { anyRunDatabase, until } from "../../test/run-suite.ts";
import { defineTool } from "../tools/core/define-tool.ts";

anyRunDatabase((suite) => {
  test("whom an agent names gets a turn, though somebody else answers first", async () => {
    const { ada, say, over, lines } = await openRoom(suite, {
      room: { members: ["ann", "ben", "cleo"].map((name) => memberOf(name)) },
      script: scriptOf({
        ann: ["@ben is it right?", "Thanks, I have it.", "[pass]"],
        ben: ["Nearly. @cleo check the sum, please."],
        cleo: ["It is 42."],
      }),
    });
    await over(await say(ada, "@ann go"));
    assert.deepEqual(lines(), [
      "@user: @ann go",
      "@ann: @ben is it right?",
      "@ben: Nearly. @cleo check the sum, please.",
      "@ann: Thanks, I have it.",
      "@cleo: It is 42.",
    ]);
  });

  test("several named at once all get a turn, in their order; a pass is an answer", async () => {
    const { ada, say, over, lines } = await openRoom(suite, {
      room: { members: ["lead", "one", "two", "three"].map((name) => memberOf(name)) },
      script: scriptOf({
        lead: ["@one @two @three your numbers?", "[pass]", "[pass]"],
        one: ["1"],
        two: ["[pass]"],
        three: ["3"],
      }),
    });
    await over(await say(ada, "@lead ask them"));
    assert.deepEqual(
      lines().filter((line) => line !== "(@lead passes)"),
      ["@user: @lead ask them", "@lead: @one @two @three your numbers?", "@one: 1", "(@two passes)", "@three: 3"],
    );
  });

  test("what a guard stops before its turn is named in the notice", async () => {
    let count = 0;
    const { ada, say, over, lines, seen } = await openRoom(suite, {
      room: { members: ["ann", "ben", "cleo"].map((name) => memberOf(name)), guards: { pair: 4 } },
      script: scriptOf({
        ann: () => `@ben ${++count}`,
        ben: () => `@ann @cleo ${++count}`,
      }),
    });
    await over(await say(ada, "@ann go"));
    assert.equal(lines().at(-1), "! room_pair");
    const notice = seen.findLast((event) => event.type === "notice");
    assert.match(notice?.type === "notice" ? notice.item.body.text : "", /@cleo was called and has not had a turn\./);
  });

  test("an agent that waits for a person does not keep those from their turn whom it named", async () => {
    const asking = defineTool({
      name: "asking",
      description: "Asks.",
      input: z.object({}),
      effect: "read",
      execute: () => ({ content: "", ask: { text: "Which one?" } }),
    });
    const { ada, say, lines } = await openRoom(suite, {
      room: { members: ["ann", "ben", "cleo"].map((name) => memberOf(name, { tools: ["*"] })) },
      tools: [asking],
      script: scriptOf({
        ann: ["@ben @cleo go", "[pass]"],
        ben: [[{ text: "Let me ask." }, { call: "asking", arguments: {} }]],
        cleo: ["Done."],
      }),
    });
    await say(ada, "@ann start");
    await until(() => lines().includes("@cleo: Done."), "the other one");
  });

  test("in a room where nobody listens to everything, a message to nobody says whom one could call", async () => {
    const { ada, bob, say, over, seen, lines } = await openRoom(suite, {
      room: {
        members: [memberOf("ann", { description: "Knows the numbers." }), memberOf("ben")],
      },
      script: scriptOf({ ann: ["Yes?"] }),
    });
    const texts = () => seen.flatMap((event) => (event.type === "notice" ? [event.item.body.text] : []));
    await over(await say(ada, "hello?"));
    assert.deepEqual(texts(), [
      "No agent was mentioned, and all agents here respond only when mentioned. Start with @ann (Knows the numbers.) or @ben.",
    ]);
    // Two people may talk to each other: it is said again only after an agent was called.
    await over(await say(bob, "nobody there"));
    await over(await say(ada, "@user hi"));
    assert.equal(texts().length, 1);
    await over(await say(ada, "@ann hello"));
    await over(await say(ada, "and the others?"));
    assert.equal(texts().length, 2);
    assert.equal(lines().filter((line) => line === "@ann: Yes?").length, 1);
  });
});
