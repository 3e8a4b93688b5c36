import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Client, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { loadConfig } from "../src/config/load.ts";
import { type Colloquy, startColloquy } from "../src/main.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { anyDatabase, type Place } from "./databases.ts";
import { connectMcp, eras, type Era, textIn } from "./mcp-client.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";

const cli = join(import.meta.dirname, "../src/cli.ts");
const flags = ["--disable-warning=ExperimentalWarning", cli];
type Task = { readonly id: number; readonly title: string };

function environmentOf({ url, dataDirectory }: Place): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    COLLOQUY_DATA: dataDirectory,
    COLLOQUY_PROBE: "false",
    COLLOQUY_PORT: "0",
    ...(url !== undefined && { DATABASE_URL: url }),
  };
}

async function ended(child: ChildProcess, signal?: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  if (signal) child.kill(signal);
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
}

/** `colloquy tools todo` on a free port, once it says where it listens. */
async function startTodo(place: Place, ...args: string[]) {
  const child = spawn(process.execPath, [...flags, "tools", "todo", "--port", "0", ...args], {
    cwd: temporaryFolder("cli"),
    env: environmentOf(place),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  child.stderr.on("data", (data: Buffer) => (errors += data.toString()));
  for await (const data of child.stdout.iterator({ destroyOnReturn: false })) {
    output += String(data);
    const url = /listening on (\S+)/.exec(output)?.[1];
    if (url !== undefined) return { url, output, stop: () => ended(child, "SIGTERM") };
  }
  throw new Error(`it ended:\n${output}${errors}`);
}

anyDatabase(({ place }) => {
  test("colloquy tools todo serves a user's tasks, which stay", async () => {
    const where = await place();
    // The flag is another way to name the database.
    const { url: database, dataDirectory } = where;
    const flag = database === undefined ? [] : ["--database", database];
    const first = await startTodo({ dataDirectory }, "--user", "ada", ...flag);
    assert.match(first.output, /Tasks of ada/);
    const client = await connectMcp(first.url, { era: "2026-07-28" });
    const call = {
      name: "add_task",
      arguments: { title: "Buy milk", user_id: "ada" },
      _meta: { "colloquy/idempotencyKey": "one" },
    };
    const added = await client.callTool(call);
    await client.close();
    assert.equal(await first.stop(), 0);

    const second = await startTodo(where, "--user", "ada");
    const again = await connectMcp(second.url, { era: "2025-11-25" });
    assert.deepEqual((await again.callTool(call)).structuredContent, added.structuredContent);
    const { tasks } = (await again.callTool({ name: "list_tasks", arguments: {} })).structuredContent as {
      tasks: Task[];
    };
    assert.deepEqual(
      tasks.map(({ title }) => title),
      ["Buy milk"],
    );
    await again.close();
    assert.equal(await second.stop(), 0);
  });
});

describe("colloquy mcp", () => {
  let place: Place;
  before(async () => {
    place = { dataDirectory: await freshDataDirectory() };
  });

  async function connectStdio(era: Era): Promise<{ client: Client; strays: unknown[]; transport: Transport }> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...flags, "mcp"],
      env: environmentOf(place),
      cwd: temporaryFolder("cli"),
      stderr: "ignore",
    });
    const strays: unknown[] = [];
    const mode = era === "2025-11-25" ? "legacy" : { pin: era };
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    // What is not the protocol can't be read, and is told here.
    client.onerror = (error) => strays.push(error);
    await client.connect(transport);
    return { client, strays, transport };
  }

  async function use(era: Era): Promise<void> {
    const { client, strays } = await connectStdio(era);
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === "ask_assistant"));
    assert.equal(textIn(await client.callTool({ name: "calculate", arguments: { expression: "6*7" } })), "42");
    const odd = await client.callTool({ name: "add_task", arguments: { title: "Grüße ☕\u2028 end" } });
    assert.equal((odd.structuredContent as Task).title, "Grüße ☕\u2028 end");
    await assert.rejects(client.callTool({ name: "nothing ☕", arguments: {} }), { code: -32602 });
    await assert.rejects(client.readResource({ uri: "colloquy://threads/no" }), { code: -32602 });
    await client.close();
    assert.deepEqual(strays, []);
  }

  test("without a server it is one itself, as long as somebody speaks to it", () => use("2026-07-28"));

  describe("beside a running server", () => {
    let colloquy: Colloquy;
    before(async () => {
      const config = loadConfig({ env: environmentOf(place), cwd: temporaryFolder("cli") });
      colloquy = await startColloquy(config, { log: silentLog });
    });
    after(() => colloquy.stop());

    for (const era of eras) test(`it speaks to that one (${era})`, () => use(era));

    test("a data directory in use is said to be so, with the way to its tasks", async () => {
      const where = new RegExp(`${colloquy.url}/mcp/todo`);
      await assert.rejects(startTodo(place), where);
    });

    test("what is no message is answered as such, and the rest goes on", async () => {
      const child = spawn(process.execPath, [...flags, "mcp"], {
        cwd: temporaryFolder("cli"),
        env: environmentOf(place),
        stdio: ["pipe", "pipe", "ignore"],
      });
      child.stdin.write('no JSON\n\n[]\n{"jsonrpc":"2.0","id":7,"method":"ping"}\n');
      let output = "";
      for await (const data of child.stdout) {
        output += String(data);
        if (output.split("\n").length === 4) child.stdin.end();
      }
      const answers = output.trim().split("\n");
      const codes = answers.map((line) => (JSON.parse(line) as { error?: { code: number } }).error?.code);
      assert.deepEqual(codes.slice(0, 2), [-32700, -32700]);
      assert.equal((JSON.parse(answers[2]!) as { id: number }).id, 7);
      assert.equal(await ended(child), 0);
    });
  });
});
