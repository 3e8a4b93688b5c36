import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { openRoom } from "../../test/room-place.ts";
import { linesOf, memberOf, scriptOf, speakerOf } from "../../test/rooms.ts";
import { anyRunDatabase, until } from "../../test/run-suite.ts";
import { defineTool } from "../tools/core/define-tool.ts";

anyRunDatabase((suite) => {
  test("in private: who is only spoken of does not hear it, and all means all", async () => {
    const { ada, say, over, lines } = await openRoom(suite, {
      room: { members: [memberOf("one"), memberOf("two")], private: true },
      script: scriptOf({ one: ["As you say.", "Hello."], two: ["Hello too."] }),
    });
    await over(await say(ada, "/private @one what do you think of @two?"));
    assert.deepEqual(lines().slice(1), ["@one: As you say."]);
    await over(await say(ada, "/private @all hello"));
    assert.deepEqual(lines().slice(3), ["@one: Hello.", "@two: Hello too."]);
  });

  test("in private: what a turn runs before it says for whom it is, nobody is told, but who watches it", async () => {
    const held = Promise.withResolvers<void>();
    const bash = defineTool({
      name: "bash",
      description: "Runs.",
      input: z.object({ cmd: z.string() }),
      effect: "read",
      async execute({ cmd }) {
        await held.promise;
        return cmd;
      },
    });
    const { ada, say, over, lines, seen, service } = await openRoom(suite, {
      room: {
        members: [
          memberOf("one", { tools: ["*"] }),
          memberOf("two"),
          memberOf("three"),
          memberOf("eye", { mayInterrupt: true }),
        ],
        private: true,
        turns: "parallel",
      },
      tools: [bash],
      script: scriptOf({
        one: [
          "Noted.",
          [{ text: "I look. " }, { call: "bash", arguments: { cmd: "code 7" } }],
          "/private @two it is 7",
        ],
        two: ["Understood."],
        three: ["I know of nothing.", "Still nothing."],
        eye: ["[pass]"],
      }),
    });
    await over(await say(ada, "/private @one the word is plum"));
    const run = await say(ada, "@one look");
    await until(() => seen.some((event) => event.type === "call-start"), "the call");
    await say(ada, "@three what is it?");
    await until(() => lines().includes("@three: I know of nothing."), "the other");
    held.resolve();
    await over(run);
    await over(await say(ada, "@three and now?"));
    assert.equal(lines().at(-1), "@three: Still nothing.");
    const told = (name: string) =>
      service.model.requests
        .filter((request) => speakerOf(request) === name)
        .flatMap(linesOf)
        .join("\n");
    assert.doesNotMatch(told("three"), /7|I look|plum/);
    assert.match(told("two"), /I look\..*it is 7.*\[ran: code 7\]/s);
    assert.match(told("eye"), /\[about to run: code 7\]/);
    assert.doesNotMatch(told("eye"), /plum/);
  });
});
