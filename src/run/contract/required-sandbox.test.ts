import assert from "node:assert/strict";
import { before, test } from "node:test";
import { z } from "zod";
import { anyDatabase } from "../../../test/databases.ts";
import { startTestRuns, type TestRunsOptions } from "../../../test/runs.ts";
import { callerOf } from "../../protocol/base/callers.ts";
import { InvalidInput } from "../../protocol/base/errors.ts";
import { askerScopes } from "../../protocol/base/scopes.ts";
import type { Database } from "../../store/driver/database.ts";
import { defineTool } from "../../tools/core/define-tool.ts";
import type { SandboxInfo } from "./required-sandbox.ts";

const runCode = { name: "run", description: "Runs.", input: z.object({}), scope: "sandbox" } as const;
const script = [[{ call: "run", arguments: {} }], "ok"];

const sandboxes = {
  strong: { driver: "bubblewrap", grade: "strong" },
  partial: { driver: "landlock", grade: "partial" },
  simulated: { driver: "simulated", grade: "simulated" },
  native: { driver: "unsafe-native", grade: "none" },
  absent: { driver: "none", grade: "none" },
} as const satisfies Record<string, SandboxInfo>;

anyDatabase((databases) => {
  let database: Database;
  before(async () => void (database = await databases.open()));

  type Told = Partial<TestRunsOptions> & { effect?: "read" | "write"; mayOnlyAsk?: boolean };

  /** What the model is told of its call, or the question that a person is asked; and how often the tool ran. */
  async function told(sandbox: SandboxInfo, options: Told = {}) {
    let count = 0;
    const { effect = "write", mayOnlyAsk = false, ...rest } = options;
    const tool = defineTool({ ...runCode, effect, runsCode: true, execute: () => `ran ${(count += 1)}` });
    const service = await startTestRuns({ database, script, tools: [tool], sandbox: async () => sandbox, ...rest });
    const { caller } = service;
    const asks = mayOnlyAsk ? callerOf({ ...caller, id: caller.userId }, "local", askerScopes) : caller;
    const started = await service.runs.start(asks, { agent: "assistant", message: { content: "go" } });
    await service.events(started);
    const [question] = await service.approvals.questions(service.caller, started.runId);
    await service.stop(0);
    return { text: question?.body.text ?? service.model.requests[1]!.messages.at(-1)!.content, count };
  }

  test("code that may change something is asked about where little holds it", async () => {
    assert.deepEqual(await told(sandboxes.strong), { text: "ran 1", count: 1 });
    assert.deepEqual(await told(sandboxes.partial), { text: "ran 1", count: 1 });
    for (const [name, shown] of [
      ["simulated", "simulated (simulated)"],
      ["native", "unsafe-native (none)"],
    ] as const) {
      const text = `May run be called with these arguments? It runs in ${shown}.`;
      assert.deepEqual(await told(sandboxes[name]), { text, count: 0 });
    }
  });

  test("not what only reads, nor what the operator allows, nor where nothing runs at all", async () => {
    assert.equal((await told(sandboxes.native, { effect: "read" })).text, "ran 1");
    assert.equal((await told(sandboxes.native, { approval: { allow: ["run"] } })).text, "ran 1");
    assert.equal((await told(sandboxes.absent)).text, "ran 1");
  });

  test("whoever only asks in local mode has code run where nothing gets out, or not at all", async () => {
    const asked = (sandbox: SandboxInfo) =>
      told(sandbox, { mayOnlyAsk: true, approval: { allow: ["*"] }, effect: "read" });
    assert.equal((await asked(sandboxes.strong)).count, 1);
    assert.equal((await asked(sandboxes.simulated)).count, 1);
    for (const name of ["partial", "native", "absent"] as const) {
      const { text, count } = await asked(sandboxes[name]);
      assert.equal(count, 0, name);
      assert.match(String(text), /can run code outside a strong sandbox/);
    }
  });

  test("an agent that demands more than there is does not run code, whatever is allowed", async () => {
    const approval = { allow: ["*"] };
    const demanding = (sandbox: SandboxInfo) => told(sandbox, { approval, agent: { sandbox: "strong" } });
    assert.deepEqual(await demanding(sandboxes.partial), {
      text: "The agent assistant runs code only in a sandbox that is at least strong; landlock here is partial.",
      count: 0,
    });
    assert.match(String((await demanding(sandboxes.absent)).text), /at least strong; there is none here\.$/);
    assert.equal((await demanding(sandboxes.strong)).count, 1);
    assert.equal((await told(sandboxes.strong, { agent: { sandbox: "partial" } })).count, 1);
  });
});

test("a tool that runs code does it in the sandbox", () => {
  const wrong = { ...runCode, scope: undefined, effect: "write", runsCode: true, execute: () => "" } as const;
  assert.throws(() => defineTool(wrong), InvalidInput);
});
