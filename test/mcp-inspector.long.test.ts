import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

/**
 * The MCP Inspector's command line against ours. `npm run test:long` installs what test/mcp-inspector/package-lock.json names
 * (scripts/inspector.mjs) and tells its program by `MCP_INSPECTOR`, which may name another one.
 */
const inspector = process.env["MCP_INSPECTOR"];
const skip =
  inspector === undefined && "MCP_INSPECTOR names no inspector; npm run test:long -- mcp-inspector installs one";
const cli = [process.execPath, join(import.meta.dirname, "../src/cli.ts"), "mcp"];

let server: ServerProcess;
let dataDirectory: string;
before(async () => {
  if (skip) return;
  dataDirectory = await freshDataDirectory();
  server = await startServerProcess({ cwd: temporaryFolder("inspector"), env: { COLLOQUY_DATA: dataDirectory } });
});
after(() => server?.end("SIGTERM"));

async function inspect(target: readonly string[], method: string, ...args: string[]) {
  const child = spawn(inspector!, ["--cli", ...target, "--quiet", "--method", method, ...args], {
    cwd: temporaryFolder("inspector"),
    env: { PATH: process.env["PATH"] ?? "", HOME: temporaryFolder("home") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: code as number, output, errors };
}

const overHttp = (era: string, path = "/mcp") => [
  `${server.url}${path}`,
  ...["--transport", "http", "--protocol-era", era],
];
const overStdio = (era: string) => [
  ...cli,
  ...["--protocol-era", era, "-e", `COLLOQUY_DATA=${dataDirectory}`, "-e", "COLLOQUY_PROBE=false"],
];

for (const era of ["legacy", "modern"])
  for (const [name, target] of [
    ["/mcp", overHttp],
    ["/mcp/todo", (which: string) => overHttp(which, "/mcp/todo")],
    ["colloquy mcp", overStdio],
  ] as const)
    test(`the inspector at ${name}, ${era}: portable schemas, a call, a refusal`, { skip }, async () => {
      const listed = await inspect(target(era), "tools/list", "--strict");
      assert.deepEqual([listed.code, listed.errors], [0, ""]);
      assert.ok(listed.output.includes('"add_task"'));
      const added = await inspect(target(era), "tools/call", "--tool-name", "add_task", "--tool-arg", "title=Milk");
      assert.equal(added.code, 0, added.errors);
      assert.match(added.output, /"structuredContent": \{\s*"id": \d+/);
      const refused = await inspect(target(era), "tools/call", "--tool-name", "add_task");
      assert.equal(refused.code, 5);
      assert.match(refused.output, /title: Invalid input/);
    });

test("the inspector reads prompts and threads", { skip }, async () => {
  const ask = ["--tool-name", "ask_assistant", "--tool-arg", "message=What time is it?"];
  const asked = await inspect(overHttp("modern"), "tools/call", ...ask);
  const { thread } = (JSON.parse(asked.output) as { structuredContent: { thread: string } }).structuredContent;
  const read = await inspect(overHttp("modern"), "resources/read", "--uri", `colloquy://threads/${thread}`);
  assert.match(read.output, /What time is it\?/);
  const prompt = ["--prompt-name", "ask_assistant", "--prompt-args", "message=hi"];
  assert.equal((await inspect(overHttp("legacy"), "prompts/get", ...prompt)).code, 0);
});
