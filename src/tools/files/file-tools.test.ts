import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { before, beforeEach, test } from "node:test";
import { temporaryFolder } from "../../../test/pglite.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Tool, ToolContext, ToolResult } from "../../protocol/agents/tools.ts";
import type { Workspace } from "../../sandbox/workspace/workspace.ts";
import { createWorkspaces, type Workspaces } from "../../sandbox/workspace/workspaces.ts";
import { fileTools } from "../built-in.ts";
import { executeTool, parseCall } from "../core/call-tool.ts";
import { searchFilesTool } from "./search-files.ts";

let workspaces: Workspaces;
let tools: readonly Tool[];
let thread: string;
let workspace: Workspace;

before(() => {
  workspaces = createWorkspaces({ folder: temporaryFolder("tools"), diskBytes: 4 * 1024 ** 2 });
  tools = fileTools(workspaces);
});
beforeEach(async () => {
  thread = newId();
  workspace = await workspaces.open(thread);
});

async function call(tool: string | Tool, input: object, signal = new AbortController().signal): Promise<ToolResult> {
  const used = typeof tool === "string" ? tools.find(({ name }) => name === tool) : tool;
  assert.ok(used);
  const parsed = parseCall(used, JSON.stringify(input));
  if (!parsed.ok) return parsed.result;
  const context: ToolContext = {
    caller: { userId: "u", name: "Ada", role: "user", permissions: [], via: "local" },
    threadId: newId(),
    rootThreadId: thread,
    runId: "r",
    call: { step: "1", index: 0 },
    signal,
    idempotencyKey: "k",
    answers: [],
    ownHeaders: () => ({}),
    query: async () => [],
    step: async () => assert.fail("asks no model"),
    progress: () => {},
  };
  return executeTool(used, parsed.input, context);
}

async function said(tool: string | Tool, input: object): Promise<string> {
  const { content, isError } = await call(tool, input);
  assert.ok(!isError, content);
  return content;
}

async function refused(tool: string | Tool, input: object): Promise<string> {
  const { content, isError } = await call(tool, input);
  assert.ok(isError, content);
  return content;
}

test("files are written and read with the words that agents know", async () => {
  const { content, data } = await call("write_file", { path: "src/fib.py", content: "print('ü')\n" });
  assert.equal(content, "OK: Wrote 11 chars to src/fib.py");
  assert.deepEqual(data, {
    files: [{ path: "src/fib.py", bytes: 12, change: "made", mediaType: "text/x-python" }],
  });
  assert.equal(await said("read_file", { path: "/workspace/src/fib.py" }), "print('ü')\n");
  assert.equal(
    await refused("read_file", { path: "fib.py" }),
    "ERROR(read_file): File fib.py not found in the workspace.",
  );
  assert.match(await refused("write_file", { path: "../x", content: "" }), /^ERROR\(write_file\): .*outside/);
});

test("of a long file a part is shown, with how to go on", async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index + 1}`);
  await workspace.write("long.txt", lines.join("\n") + "\n");
  const first = await said("read_file", { path: "long.txt" });
  const [, shown = "", next = ""] = /\[Lines 1 to (\d+) of 20000. Continue with offset (\d+).\]$/.exec(first) ?? [];
  assert.equal(Number(next), Number(shown) + 1);
  assert.ok(first.length < 51_000);
  assert.match(
    await said("read_file", { path: "long.txt", offset: Number(next), limit: 1 }),
    new RegExp(`^line ${next}\n`),
  );
  assert.equal(
    await said("read_file", { path: "long.txt", offset: 19_999 }),
    "line 19999\nline 20000\n[Lines 19999 to 20000 of 20000.]",
  );
  assert.match(
    await said("read_file", { path: "long.txt", offset: 20_001 }),
    /Line 20001 does not exist: the file has 20000/,
  );
  await workspace.write("one-line.json", "x".repeat(200_000));
  assert.match(await said("read_file", { path: "one-line.json" }), /Line 1 has 200000 characters; only its beginning/);
  await workspace.write("empty.txt", "");
  assert.equal(await said("read_file", { path: "empty.txt" }), "[empty.txt is empty.]");
});

test("what is no text is told as what it is", async () => {
  await workspace.write("chart.png", Buffer.from([137, 80, 78, 71, 0, 0]));
  await workspace.write("data.bin", Buffer.from([0, 1]));
  assert.match(
    await refused("read_file", { path: "chart.png" }),
    /^ERROR\(read_file\): .*image\/png \(6 bytes\), not text/,
  );
  assert.match(await refused("read_file", { path: "data.bin" }), /a binary file/);
  await workspace.write("latin.txt", Buffer.from([0x66, 0xfc, 0x72]));
  assert.equal(await said("read_file", { path: "latin.txt" }), "f\ufffdr");
  assert.match(await refused("edit_file", { path: "latin.txt", old_text: "f", new_text: "g" }), /not UTF-8 text/);
});

test("a text is replaced where it stands once, or everywhere on demand", async () => {
  const read = async () => String((await workspace.read("a.py", { maxBytes: 1000 })).content);
  await workspace.write("a.py", "def f(n):\n    return n\n\nprint(f(1), f(2))\n");
  const edit = { path: "a.py", old_text: "return n\n", new_text: "return $& + 1\n" };
  assert.equal(await said("edit_file", edit), "OK: Replaced text in a.py, in line 2");
  assert.equal(await read(), "def f(n):\n    return $& + 1\n\nprint(f(1), f(2))\n");
  assert.match(await refused("edit_file", { ...edit, old_text: "f(" }), /3 times \(lines 1, 4, 4\)/);
  assert.match(await said("edit_file", { ...edit, old_text: "f(", new_text: "g(", replace_all: true }), /in 3 places/);
  assert.equal(await read(), "def g(n):\n    return $& + 1\n\nprint(g(1), g(2))\n");
});

test("a text that is not there is answered with the nearest", async () => {
  await workspace.write("a.py", "def f(n):\n    return n\n");
  const edit = (old_text: string) => refused("edit_file", { path: "a.py", old_text, new_text: "x" });
  assert.match(
    await edit("def f(n):\nreturn n"),
    /Line 1 differs only in its spaces; it is: "def f\(n\):\\n {4}return n"/,
  );
  assert.match(await edit("def f(n):\n    return m + 1"), /Line 1 is "def f\(n\):"; read what follows/);
  assert.match(await edit("class"), /Read the file/);
  await workspace.write("dos.txt", "one\r\ntwo\r\n");
  await said("edit_file", { path: "dos.txt", old_text: "one\ntwo", new_text: "1\n2" });
  assert.equal(String((await workspace.read("dos.txt", { maxBytes: 99 })).content), "1\r\n2\r\n");
});

test("files are listed with their sizes, strange names on one line", async () => {
  assert.equal(await said("list_files", {}), "[the workspace is empty.]");
  await workspace.write("a/b/c/d.txt", "four");
  await workspace.write("a/new\nline", "");
  symlinkSync("/etc", join(workspace.folder, "link"));
  assert.equal(await said("list_files", {}), 'a/\na/b/\na/b/c/\n"a/new\\nline" (0 bytes)\nlink (link, not readable)');
  assert.equal(await said("list_files", { path: "a/b", depth: 1 }), "a/b/c/");
  assert.match(await refused("list_files", { path: "link" }), /^ERROR\(list_files\): .*links are not followed/);
});

test("names and lines are searched for a text or a pattern", async () => {
  await workspace.write("src/main.py", "import os\nTotal = 1\n# a+b (total)\n");
  await workspace.write("total.csv", "x\n");
  await workspace.write("blob.bin", Buffer.from("total\0"));
  assert.equal(
    await said("search_files", { query: "total" }),
    "total.csv\nsrc/main.py:2: Total = 1\nsrc/main.py:3: # a+b (total)",
  );
  assert.equal(await said("search_files", { query: "a+b (" }), "src/main.py:3: # a+b (total)");
  assert.equal(
    await said("search_files", { query: "^T\\w+ =", regex: true, case_sensitive: true }),
    "src/main.py:2: Total = 1",
  );
  assert.equal(await said("search_files", { query: "total", glob: "*.csv" }), "total.csv");
  assert.match(await said("search_files", { query: "nowhere" }), /^\[No matches in 3 files/);
  assert.match(
    await refused("search_files", { query: "(", regex: true }),
    /^ERROR\(search_files\): .*regular expression/,
  );
});

test("a pattern that would take for ever is ended, and keeps nobody waiting meanwhile", async () => {
  await workspace.write("a.txt", "a".repeat(60) + "!");
  const evil = { query: "(a+)+$", regex: true };
  const found = refused(searchFilesTool(workspaces, { maxMs: 400 }), evil);
  let ticks = 0;
  const timer = setInterval(() => ticks++, 5);
  assert.match(await found, /took longer than 0.4 s/);
  clearInterval(timer);
  assert.ok(ticks > 3, `the event loop turned ${ticks} times`);
  const stop = new AbortController();
  const stopped = call("search_files", evil, stop.signal);
  setImmediate(() => stop.abort(new Error("cancelled")));
  await assert.rejects(stopped, /cancelled/);
});
