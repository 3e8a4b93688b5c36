import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { openRoom } from "../../test/room-place.ts";
import { linesOf, memberOf, scriptOf, speakerOf } from "../../test/rooms.ts";
import { anyRunDatabase } from "../../test/run-suite.ts";
import type { ScriptAnswer } from "../models/demo/scripted.ts";
import { defineTool } from "../tools/core/define-tool.ts";

const bash = defineTool({
  name: "bash",
  description: "Runs.",
  input: z.object({ cmd: z.string() }),
  effect: "read",
  execute: ({ cmd }) => `did ${cmd}`,
});
const run = (cmd: string): ScriptAnswer => [{ call: "bash", arguments: { cmd } }];
const code = memberOf("code", { tools: ["*"] });

anyRunDatabase((suite) => {
  test("a turn that ran something and said nothing: who asked for it goes on; the room rests when all pass", async () => {
    const { ada, say, over, lines, seen, service } = await openRoom(suite, {
      room: {
        members: [memberOf("data", { activation: "always" }), code, memberOf("watch", { activation: "always" })],
      },
      tools: [bash],
      script: scriptOf({ data: ["@code look", "[pass]"], code: [run("ls @watch"), ""], watch: ["[pass]"] }),
    });
    await over(await say(ada, "what is there?"));
    const turns = seen.flatMap((event) => (event.type === "turn-start" ? [event.agent] : []));
    assert.deepEqual(turns, ["data", "code", "data", "watch"]);
    assert.deepEqual(lines(), ["@user: what is there?", "@data: @code look", "(@data passes)", "(@watch passes)"]);
    for (const name of ["data", "watch"]) {
      const asked = service.model.requests.findLast((request) => speakerOf(request) === name)!;
      assert.match(linesOf(asked).at(-1)!, /\[@code\]: \n\[ran: ls @watch\]\n\[result\]: did ls @watch$/);
    }
  });

  test("neither a word nor work is a pass, and so is work that ends with [pass]", async () => {
    const { ada, say, over, seen } = await openRoom(suite, {
      room: { members: [code, memberOf("data", { activation: "always" })] },
      tools: [bash],
      script: scriptOf({ code: ["", run("ls"), "[pass]"], data: ["[pass]", "[pass]"] }),
    });
    await over(await say(ada, "@code hello"));
    await over(await say(ada, "@code check"));
    const turns = seen.flatMap((event) => (event.type === "turn-start" ? [event.agent] : []));
    assert.deepEqual(turns, ["code", "data", "code", "data"]);
    const answered = seen.flatMap((event) => (event.type === "turn-start" ? [event.answers] : []));
    assert.equal(new Set(answered).size, 2, "both times @data answers the person");
  });

  test("agents that only run something, for ever, are stopped by a guard; the same command thrice is no repetition", async () => {
    let asked = 0;
    const { ada, say, over, lines, seen } = await openRoom(suite, {
      room: {
        members: ["one", "two"].map((name) => memberOf(name, { tools: ["*"], activation: "always" })),
        guards: { pair: 8 },
      },
      tools: [bash],
      script: () => (++asked % 2 === 1 ? run("make") : ""),
    });
    await over(await say(ada, "go"));
    assert.deepEqual(lines(), ["@user: go", "! room_pair"]);
    assert.equal(seen.filter(({ type }) => type === "turn-start").length, 8);
  });

  test("a model that decides who is woken is told what was run", async () => {
    const judged: string[] = [];
    const { ada, say, over, seen } = await openRoom(suite, {
      room: {
        members: [
          code,
          memberOf("guard", { activation: "always", wake: { model: "script", question: "Is this dangerous?" } }),
        ],
      },
      tools: [bash],
      script: (request) => {
        const [system, asked] = linesOfAll(request.messages);
        if (system!.startsWith("Is this dangerous?")) {
          judged.push(asked!);
          return asked!.includes("rm -rf") ? "yes" : "no";
        }
        if (speakerOf(request) === "guard") return "Don't.";
        return linesOf(request).at(-1)!.startsWith("tool:") ? "" : run("rm -rf build");
      },
    });
    await over(await say(ada, "@code clean up"));
    assert.equal(judged.at(-1), "[@code]: [ran: rm -rf build]");
    assert.ok(seen.some((event) => event.type === "turn-start" && event.agent === "guard"));
  });
});

function linesOfAll(messages: readonly { readonly content?: unknown }[]): string[] {
  return messages.map(({ content }) => (typeof content === "string" ? content : ""));
}
