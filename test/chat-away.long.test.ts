import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { after, before, describe, test } from "node:test";
import { textOf } from "../src/protocol/threads/items.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import { openTerminal } from "./tmux.ts";

const node = [process.execPath, "--disable-warning=ExperimentalWarning"];
const talk = [...node, join(import.meta.dirname, "talk.ts")];
const cli = [...node, join(import.meta.dirname, "../src/cli.ts")];

describe("a chat whose server is away for a while", () => {
  let server: ServerProcess;
  let cwd: string;
  let env: Record<string, string>;
  before(async () => {
    cwd = temporaryFolder("away");
    writeFileSync(join(cwd, "colloquy.yaml"), "probe: false\n");
    env = { COLLOQUY_DATA: await freshDataDirectory() };
    server = await startServerProcess({ cwd, env });
    env["COLLOQUY_PORT"] = new URL(server.url).port;
  });
  after(() => server.end("SIGTERM"));

  /** What people said in the newest conversation, and how many answers there are. */
  async function saidAndAnswered() {
    const [thread] = await server.client.threads({ limit: 1 });
    const items = await server.client.items(thread!.id);
    const messages = items.flatMap((item) => (item.kind === "message" ? [item.body] : []));
    const said = messages.filter(({ role }) => role === "user").map(({ content }) => textOf(content));
    return { said, answers: messages.filter(({ role }) => role === "assistant").length };
  }

  test(
    "on a terminal: what was typed meanwhile is said, shown and answered once, in order",
    { skip: process.env["COLLOQUY_TEST_TMUX"] === "no" },
    async (t) => {
      const terminal = await openTerminal([...talk, server.url, "@assistant"], { rows: 50 });
      t.after(terminal.close);
      await terminal.until(/Type \/quit/);
      await terminal.type("hello one", "Enter");
      await terminal.until(/\[@assistant\]:\n[\s\S]*rule-based\)/);
      await server.end("SIGKILL");
      await terminal.type("hello two", "Enter");
      await terminal.until(/sent when the server is back: hello two/);
      await terminal.type("hello three", "Enter");
      await terminal.until(/sent when the server is back: hello three/);
      server = await startServerProcess({ cwd, env });
      // What was not yet stored of the first answer is told anew, so the first lines may have left the screen.
      const last = /\[@user\]: hello two[\s\S]*\[@user\]: hello three\n\n\[@assistant\]:\n.+/;
      const screen = await terminal.until(last, "all");
      for (const text of ["hello one", "hello two", "hello three"])
        assert.equal(screen.split(`[@user]: ${text}`).length, 2, screen);
      assert.deepEqual(await saidAndAnswered(), { said: ["hello one", "hello two", "hello three"], answers: 3 });
      await terminal.type("/quit ", "Enter");
      await terminal.until(/Goodbye!\nexit 0/);
    },
  );

  test("in lines: one that comes meanwhile is said once, and answered by the server in its new place", async () => {
    const child = spawn(cli[0]!, [...cli.slice(1), "chat", "--json"], {
      cwd,
      env: { PATH: process.env["PATH"] ?? "", ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (data: Buffer) => (output += data.toString()));
    const until = async (fits: RegExp) => {
      for (const end = Date.now() + 60_000; !fits.test(output) && Date.now() < end;) await sleep(50);
      assert.match(output, fits);
    };
    child.stdin.write("hello one\n");
    // Before that the next line is not read.
    await until(/"kind":"end"/);
    await server.end("SIGKILL");
    child.stdin.end("hello two\n");
    await until(/sent when the server is back: hello two/);
    server = await startServerProcess({ cwd, env: { ...env, COLLOQUY_PORT: "0" } });
    const [code] = (await once(child, "close")) as [number];
    assert.equal(code, 0, output);
    assert.deepEqual(await saidAndAnswered(), { said: ["hello one", "hello two"], answers: 2 });
  });
});
