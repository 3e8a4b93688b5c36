import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { z } from "zod";
import { anyRunDatabase, until } from "../../../test/run-suite.ts";
import { defineTool } from "../../tools/core/define-tool.ts";

/** As a command that prints a line, and goes on until it is stopped. */
const command = (timeoutMs: number, fail?: string) =>
  defineTool({
    name: "bash",
    description: "Runs a command.",
    input: z.object({ cmd: z.string() }),
    effect: "write",
    scope: "sandbox",
    timeoutMs,
    async execute({ cmd }, { progress, signal }) {
      if (cmd === "silent") progress("");
      else progress(`compiled 41 of 90\n`);
      if (fail) throw new Error(fail);
      await once(signal, "abort");
      throw signal.reason;
    },
  });
const script = [[{ call: "bash", arguments: { cmd: "make" } }], "done"];

anyRunDatabase(({ start, database }) => {
  const contents = async (threadId: string) =>
    (
      await database().query<{ content: string }>(
        "select body ->> 'content' as content from items where thread_id = $1 and kind = 'result' order by seq",
        [threadId],
      )
    ).map(({ content }) => content);

  test("a command that takes too long, or whose sandbox breaks, tells what it had printed", async () => {
    for (const tool of [command(50), command(60_000, "the sandbox was closed")]) {
      const service = await start({ tools: [tool], script });
      const { started } = await service.ask("go");
      const [content] = await contents(started.threadId);
      assert.match(content!, /(did not finish|closed)[^]*\nWhat it had printed:\ncompiled 41 of 90$/);
      await service.stop(0);
    }
  });

  test("so does one whose run is cancelled, without waiting for what is kept in time", async () => {
    let printing = false;
    const tool = command(60_000);
    const service = await start({
      tools: [{ ...tool, execute: (...given) => (printing = true) && tool.execute(...given) }],
      script,
    });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
    await until(() => printing);
    await service.runs.cancel(service.caller, started.runId);
    await until(async () => (await contents(started.threadId)).length > 0);
    const [content] = await contents(started.threadId);
    assert.match(content!, /^Outcome unknown:.*\nWhat it had printed:\ncompiled 41 of 90$/);
  });

  for (const [cmd, kept] of [
    ["make", "What it had printed:\ncompiled 41 of 90"],
    ["silent", "None of its output was saved."],
  ] as const)
    test(`a process that goes away over "${cmd}" leaves what reached the database`, async () => {
      const first = await start({
        tools: [command(60_000)],
        script: [[{ call: "bash", arguments: { cmd } }], "done"],
      });
      const started = await first.runs.start(first.caller, { agent: "assistant", message: { content: "go" } });
      const claimed = "select result -> 'remembered' ->> 'printed' as printed from ledger where run_id = $1";
      await until(async () => {
        const [row] = await database().query<{ printed: string | null }>(claimed, [started.runId]);
        return cmd === "silent" ? row !== undefined : row?.printed === "compiled 41 of 90\n";
      }, "what was printed to be written down while it works");
      await first.stop(0);
      const second = await start({ tools: [command(60_000)], script: ["done"] });
      await until(async () => (await contents(started.threadId)).length > 0);
      const [content] = await contents(started.threadId);
      assert.equal(content, `Interrupted: its process ended before it did, files may be half written.\n${kept}`);
      await until(async () => (await second.runs.get(second.caller, started.runId)).status === "done");
    });
});
