import assert from "node:assert/strict";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { openTestPlace, type TestPlace } from "../../../../test/code-place.ts";
import { commandLines } from "../../../../test/processes.ts";
import { eachRunDatabase, until, watch } from "../../../../test/run-suite.ts";
import { relayWire } from "../../../http/dialects/chat-completions/relay-wire.ts";
import type { Script } from "../../../models/demo/scripted.ts";
import { filesOf } from "../../../protocol/threads/files.ts";
import type { ToolResult } from "../../../protocol/agents/tools.ts";
import { createModelRelay } from "../../core/model-relay.ts";
import { type PythonCoderDeps, pythonCoderTool } from "./python-coder.ts";

const opened = await openTestPlace();
const skip = opened ? false : "no bubblewrap";
const place = opened ?? ({} as TestPlace);
after(() => opened?.close());

const smallCoder = join(import.meta.dirname, "../../../../test/nanocoder");
const installed = process.env["NANOCODER_PATH"];

function coderPlace(change: Partial<PythonCoderDeps> = {}): PythonCoderDeps {
  const relay = createModelRelay(relayWire);
  return { ...place, mode: "nanocoder", relay, nanocoder: smallCoder, searchPath: "", nanocoderSeconds: 60, ...change };
}

suite("python_coder, native", { skip }, () => {
  const run = (code: string): Promise<ToolResult> =>
    pythonCoderTool(coderPlace({ mode: "native" })).execute({ code }, place.context());

  test("gives back what the code printed, and the files it made", async () => {
    const result = await run("open('a.txt', 'w').write('x')\nprint(6 * 7)");
    assert.equal(result.content, "42\nFiles: a.txt (made, 1 bytes)");
    assert.equal((await run("x = 1")).content, "[no output: print what you want to see]");
    const { mode, stdout, exitCode } = (await run("print(1)")).data as Record<string, unknown>;
    assert.deepEqual({ mode, stdout, exitCode }, { mode: "native", stdout: "1\n", exitCode: 0 });
  });

  test("an error is an error, with its place in the code", async () => {
    const result = await run("print('so far')\n[][1]");
    assert.equal(result.isError, true);
    assert.match(
      result.content,
      /^so far\nTraceback .*\n {2}File "<code>", line 2.*IndexError: list index out of range$/s,
    );
  });
});

const program = "a, b = 0, 1\nfor _ in range(10): a, b = b, a + b\nprint(a)\n";
const asks = [{ call: "python_coder", arguments: { task: "Write fib.py and run it." } }];
const works: Script = [
  asks,
  [{ call: "write_file", arguments: { path: "fib.py", content: program } }],
  [{ call: "execute_bash", arguments: { command: "python3 fib.py" } }],
  "It prints 55.",
  "The tenth is 55.",
];

eachRunDatabase((runs) => {
  const resultIn = async (threadId: string) => {
    const [row] = await runs
      .database()
      .query<{ body: { content: string; isError?: boolean; data: object } }>(
        "select body from items where thread_id = $1 and kind = 'result'",
        [threadId],
      );
    return row!.body;
  };

  for (const [name, nanocoder] of [
    ["a small CLI that speaks its wire", smallCoder],
    ["nanocoder itself", installed],
  ] as const) {
    const left = skip || (nanocoder === undefined && "NANOCODER_PATH names no nanocoder");
    test(
      `a task is done by ${name}, in the sandbox, by steps of the run`,
      { skip: left, timeout: 120_000 },
      async () => {
        const service = await runs.start({ tools: [pythonCoderTool(coderPlace({ nanocoder }))], script: works });
        const started = await service.runs.start(service.caller, {
          agent: "assistant",
          message: { content: "Fibonacci!" },
        });
        const { seen, close } = watch(service, started);
        await service.events(started);
        close();
        const { content, isError, data } = await resultIn(started.threadId);
        assert.equal(content, "It prints 55.\nFiles: fib.py (made, 57 bytes)");
        assert.equal(isError, undefined);
        assert.deepEqual(
          filesOf(data).map(({ path, change }) => [path, change]),
          [["fib.py", "made"]],
        );
        const { requests } = service.model;
        assert.match(String(requests[3]!.messages.at(-1)!.content), /55/, "what bash printed");
        assert.ok(!JSON.stringify(requests[4]!.messages).includes("execute_bash"), "no part of the conversation");
        const progress = seen.flatMap((event) => (event.type === "progress" ? [event.text] : []));
        assert.ok(progress.some((text) => text.startsWith("Step 1: write_file")));
        const [budget] = await runs.database().query("select steps from budgets where root_run = $1", [started.runId]);
        assert.deepEqual(budget, { steps: 5 });
      },
    );
  }

  test("a limit of the run stops it in the midst, and that is told", { skip }, async () => {
    const service = await runs.start({ tools: [pythonCoderTool(coderPlace())], script: works, limits: { steps: 2 } });
    const { started } = await service.ask("Fibonacci!");
    const { content, isError } = await resultIn(started.threadId);
    assert.equal(isError, true);
    assert.match(content, /nanocoder ended with exit code 1: The run reached its limit: 2 steps are used up/);
    assert.match(content, /fib\.py \(made/);
    assert.equal(service.model.requests.length, 2);
  });

  test("a cancelled run leaves no process of it, and its token ends", { skip }, async () => {
    const hangs = [{ call: "execute_bash", arguments: { command: "touch begun; sleep 4321" } }];
    const service = await runs.start({ tools: [pythonCoderTool(coderPlace())], script: [asks, hangs] });
    const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "Sleep." } });
    await until(() => commandLines().some((line) => line === "sleep 4321"), "the command");
    await service.runs.cancel(service.caller, started.runId);
    await service.events(started);
    await until(() => !commandLines().some((line) => line.includes("sleep 4321")), "its end");
  });
}, "pglite");

suite("python_coder, nanocoder", { skip }, () => {
  const run = (change: Partial<PythonCoderDeps>, step?: () => Promise<never>): Promise<ToolResult> =>
    pythonCoderTool(coderPlace(change)).execute({ task: "Do it." }, place.context(step ? { step } : {}));

  test("where it is not installed, it is told how to install it", async () => {
    await assert.rejects(
      run({ nanocoder: undefined }),
      /not in the PATH: install it \(npm install -g @nanocollective\/nanocoder@/,
    );
    await assert.rejects(run({ nanocoder: "/nowhere/nanocoder" }), /nanocoder not found at \/nowhere\/nanocoder/);
  });

  test("it has its time", async () => {
    const result = await run({ nanocoderSeconds: 1 }, () => new Promise(() => {}));
    assert.match(result.content, /^\[ERROR: Command timed out after 1s\]/);
    assert.equal(result.isError, true);
  });
});
