import assert from "node:assert/strict";
import { test } from "node:test";
import { anyRunDatabase } from "../../../test/run-suite.ts";
import { silentLog, type Log } from "../../protocol/base/log.ts";

anyRunDatabase(({ start }) => {
  for (const [name, instructions, told] of [
    ["others by now", "Be rude.", [["agent"]]],
    ["what they were", "Be kind.", []],
  ] as const)
    test(`a run goes on with the instructions of its start, whether the file's are ${name} or not`, async () => {
      const begun = Promise.withResolvers<void>();
      const first = await start({
        agent: { instructions: "Be kind." },
        script: [[{ gate: async () => begun.resolve() }, { hang: true }]],
      });
      const started = await first.runs.start(first.caller, { agent: "assistant", message: { content: "hi" } });
      await begun.promise;
      await first.stop(0);

      const changes: unknown[] = [];
      const log: Log = {
        ...silentLog,
        info(details, text) {
          if (/continues with those it started with/.test(text ?? ""))
            changes.push((details as { changed: unknown }).changed);
        },
      };
      const second = await start({ agent: { instructions }, script: ["ok"], log });
      await second.events(started);
      assert.equal(second.model.requests[0]!.messages[0]!.content, "Be kind.");
      assert.deepEqual(changes, told);
    });
});
