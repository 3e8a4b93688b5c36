import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { openTestPlace, type TestPlace } from "../../../test/code-place.ts";
import { filesOf } from "../../protocol/threads/files.ts";
import type { ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import { openBubblewrap } from "../../sandbox/drivers/bubblewrap.ts";
import { bashTool } from "./bash.ts";

const place = await openTestPlace();

suite("bash", { skip: place ? false : "no bubblewrap" }, () => {
  const { context, workspaceOf, close } = place ?? ({} as TestPlace);
  after(close);
  let tool: ReturnType<typeof bashTool>;
  before(() => {
    tool = bashTool(place!);
  });
  const bash = (cmd: string, at: ToolContext = context(), more: object = {}): Promise<ToolResult> =>
    tool.execute(tool.input.parse({ cmd, ...more }), at);
  const dataOf = ({ data }: ToolResult) => data as { exitCode: number; stdout: string; stderr: string; end: string };

  test("what it wrote, both streams, and nothing else", async () => {
    const result = await bash("echo out; echo err >&2");
    assert.equal(result.content, "out\nerr");
    assert.equal(result.isError, undefined);
    const { exitCode, stdout, stderr } = dataOf(result);
    assert.deepEqual({ exitCode, stdout, stderr }, { exitCode: 0, stdout: "out\n", stderr: "err\n" });
  });

  test("a command that fails is told with its exit code, and is no failure of the tool", async () => {
    assert.equal((await bash("grep x /dev/null")).content, "[no output]\n[exit code 1]");
    const result = await bash("ls nowhere; exit 3");
    assert.match(result.content, /^ls: .*nowhere.*\n\[exit code 3\]$/);
    assert.equal(result.isError, undefined);
    assert.match((await bash("kill -9 $$")).content, /\[exit code 137\]/);
  });

  test("files stay for later calls, and what became of them is told", async () => {
    const at = context();
    const made = await bash("echo one > a.txt; mkdir sub; echo -n two > sub/b.txt", at);
    assert.equal(made.content, "[no output]\nFiles: a.txt (made, 4 bytes), sub/b.txt (made, 3 bytes)");
    const changed = await bash("cat a.txt; echo more >> a.txt; rm sub/b.txt", at);
    assert.deepEqual(
      filesOf(changed.data).map(({ path, change, mediaType }) => [path, change, mediaType]),
      [
        ["a.txt", "changed", "text/plain"],
        ["sub/b.txt", "removed", "text/plain"],
      ],
    );
    assert.equal((await bash("ls", context())).content, "[no output]", "another thread has other files");
  });

  test("of much output the beginning and the end are shown, and the whole is in a file that can be read", async () => {
    const at = context();
    const result = await bash("seq 1 5000", at);
    const [head, tail = ""] = result.content.split("\n... [truncated] ...\n");
    assert.equal(head!.length, 5000);
    assert.match(tail, /5000\n+\[The whole is in \.colloquy\/output-[0-9a-f]+\.txt: 23893 characters\.\]$/);
    const path = /\.colloquy\/\S+\.txt/.exec(tail)![0];
    assert.equal((await bash(`sed -n 2500p ${path}`, at)).content, "2500");
    assert.deepEqual(filesOf(result.data), []);
    assert.ok((await bash("head -c 10000 /dev/zero | tr '\\0' x", at)).content.length === 10_000, "not yet long");
  });

  test("output that never ends is stopped, and costs little", async () => {
    const small = bashTool({ ...place!, limits: { ...place!.limits, outputBytes: 20_000_000 } });
    const before = process.memoryUsage().rss;
    const result = await small.execute({ cmd: "yes" }, context());
    assert.match(result.content, /\[ERROR: Command wrote more than 19 MB and was stopped\]/);
    assert.match(result.content, /\[The beginning is in \S+: 4194304 characters\.\]/);
    assert.ok(process.memoryUsage().rss - before < 100 * 1024 ** 2);
  });

  test("a command has its time, whatever it left behind", async () => {
    const result = await bash("echo begun; (setsid sleep 300 &); sleep 300", context(), { timeout_seconds: 2 });
    assert.match(result.content, /^begun\n\[ERROR: Command timed out after 2s\]\n\[\d+\.\d s\]$/);
    assert.equal(result.isError, true);
    assert.equal(dataOf(result).end, "timed-out");
  });

  test("it may ask for more time, up to a bound", () => {
    assert.ok(tool.input.safeParse({ cmd: "true", timeout_seconds: 600 }).success);
    assert.ok(!tool.input.safeParse({ cmd: "true", timeout_seconds: 601 }).success);
    assert.ok(tool.timeoutMs > 600_000);
  });

  test("an abort ends it at once", async () => {
    const control = new AbortController();
    const at = context({ signal: control.signal, progress: () => control.abort(new Error("enough")) });
    await assert.rejects(bash("echo begun; sleep 300", at), /enough/);
  });

  test("so does the end of the sandbox", async () => {
    const sandbox = await openBubblewrap({}, AbortSignal.timeout(10_000));
    const own = bashTool({ ...place!, sandbox: { open: async () => sandbox } });
    const at = context({ progress: () => void sandbox.close() });
    await assert.rejects(own.execute({ cmd: "echo begun; sleep 300" }, at), /its sandbox was closed/);
  });

  test("followers see the output while it runs, in few pieces", async () => {
    const at = context();
    await bash("for i in 1 2 3; do echo line $i; sleep 0.3; done; seq 1 100000", at);
    assert.ok(at.told.length >= 3 && at.told.length < 20, `${at.told.length} pieces`);
    assert.match(at.told[0]!, /^line 1/);
    assert.ok(at.told.every((text) => text.length <= 2000));
  });

  test("a command knows the key of its call, and nothing of the server's environment", async () => {
    const at = context();
    const { content } = await bash("env", at);
    assert.ok(content.includes(`COLLOQUY_IDEMPOTENCY_KEY=${at.idempotencyKey}`));
    const names = content.split("\n").map((line) => line.split("=")[0]);
    assert.deepEqual(
      names.filter((name) => /TOKEN|SECRET|API_KEY|DATABASE/.test(name!)),
      [],
    );
  });

  test("bytes that are no text do no harm", async () => {
    const { content } = await bash("printf 'a\\0b\\xff\\xed\\xa0\\x80c'");
    assert.match(content, /^a.*c/);
    assert.ok(content.isWellFormed() && !content.includes("\0"));
  });

  test("without a sandbox it refuses and says why", async () => {
    const without = bashTool({
      ...place!,
      sandbox: { open: () => Promise.reject(new Error("There is no sandbox here.")) },
    });
    await assert.rejects(without.execute({ cmd: "true" }, context()), /There is no sandbox here/);
    assert.equal((await (await workspaceOf(context())).list()).entries.length, 0);
  });
});
