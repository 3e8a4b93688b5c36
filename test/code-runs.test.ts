import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Item } from "../src/protocol/threads/items.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import { bashTool } from "../src/tools/code/bash.ts";
import { openTestPlace, type TestPlace } from "./code-place.ts";
import { commandLines } from "./processes.ts";
import { eachRunDatabase, rowOf, until, watch } from "./run-suite.ts";

const opened = await openTestPlace();
const skip = opened ? false : "no bubblewrap";
const place = opened ?? ({} as TestPlace);
after(() => opened?.close());

const bash = (cmd: string) => [{ call: "bash", arguments: { cmd } }];
const contentsOf = (items: readonly Item[]) =>
  items.flatMap((item) => (item.kind === "result" ? [item.body.content] : []));

eachRunDatabase((runs) => {
  test("a delegated agent works in the files of the conversation", { skip }, async () => {
    const who = ({ messages }: ModelRequest) => String(messages[0]!.content);
    const isAnswered = ({ messages }: ModelRequest) => messages.at(-1)!.role === "tool";
    let looked = false;
    const service = await runs.start({
      tools: [bashTool(place)],
      agent: { instructions: "boss", tools: ["bash"], agents: ["coder"] },
      agents: [{ id: "coder", instructions: "coder", tools: ["bash"] }],
      script(request) {
        if (who(request) === "coder") return isAnswered(request) ? "Written." : bash("echo 42 > answer.txt");
        if (!isAnswered(request))
          return [{ call: "delegate", arguments: { agent: "coder", task: "Write answer.txt." } }];
        if (looked) return "It says 42.";
        looked = true;
        return bash("cat answer.txt");
      },
    });
    const { started, text } = await service.ask("go");
    assert.equal(text, "It says 42.");
    const items = await service.threads.listItems(service.caller, started.threadId, {});
    assert.match(contentsOf(items).at(-1)!, /^42/);
  });

  test("cancel kills the tree of a command, and what it wrote until then was seen live", { skip }, async () => {
    const service = await runs.start({
      tools: [bashTool(place)],
      script: [bash("echo begun; (setsid sleep 4323 &); sleep 4324")],
    });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
    const { seen, close } = watch(service, started);
    const lives = () => commandLines().some((line) => /sleep 432[34]/.test(line));
    await until(() => seen.some((event) => event.type === "progress" && event.text === "begun\n"), "its output");
    assert.ok(lives());
    await service.runs.cancel(service.caller, started.runId);
    await service.events(started);
    await until(() => !lives(), "the end of its processes");
    close();
    assert.equal((await rowOf(runs.database(), started.runId)).status, "cancelled");
  });
}, "pglite");
