import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { after, before, describe, test } from "node:test";
import { readHolder } from "../src/store/driver/lock.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

const cli = [process.execPath, "--disable-warning=ExperimentalWarning", join(import.meta.dirname, "../src/cli.ts")];

/** Runs a command whose reader has gone before it says anything: a pipe that nobody has open for reading. */
const nobodyReads = 'mkfifo "$0"; exec 4<>"$0" 5>"$0" 4>&-; exec "$@"';
const firstLine = '"$@" | head -n 1; exit "${PIPESTATUS[0]}"';

type Place = { readonly cwd: string; readonly env: Readonly<Record<string, string>> };

async function newPlace(): Promise<Place> {
  const cwd = temporaryFolder("pipes");
  writeFileSync(join(cwd, "colloquy.yaml"), "probe: false\n");
  const env = { PATH: process.env["PATH"] ?? "", COLLOQUY_DATA: await freshDataDirectory(), COLLOQUY_PORT: "0" };
  return { cwd, env };
}

let fifos = 0;
function start(script: string, args: readonly string[], { cwd, env }: Place): ChildProcess {
  const fifo = join(cwd, `fifo-${++fifos}`);
  return spawn("bash", ["--norc", "-c", script, fifo, ...cli, ...args], { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
}

/** `streams`: which of them nobody reads. */
async function unread(place: Place, args: readonly string[], { input = "", streams = ">&5" } = {}) {
  return ended(start(`${nobodyReads} ${streams}`, args, place), input);
}

async function ended(child: ChildProcess, input = "") {
  let [out, err] = ["", ""];
  child.stdout!.on("data", (data: Buffer) => (out += data.toString()));
  child.stderr!.on("data", (data: Buffer) => (err += data.toString()));
  child.stdin!.end(input);
  const [code] = (await once(child, "close")) as [number];
  return { code, out, err };
}

describe("beside a running server", () => {
  let place: Place;
  let server: ServerProcess;
  before(async () => {
    place = await newPlace();
    server = await startServerProcess(place);
  });
  after(() => server.end("SIGTERM"));

  for (const args of [["--help"], ["runs"], ["user", "list"], ["doctor"]])
    test(`colloquy ${args.join(" ")}: what nobody reads is no failure, and no stack`, async () => {
      const { code, err } = await unread(place, args);
      assert.deepEqual([code, err], [0, ""]);
    });

  for (const args of [
    ["run", "what is 3*4?"],
    ["run", "--json", "what is 3*4?"],
    ["run", "--agent", "analysis", "hi"],
  ])
    test(`colloquy ${args.join(" ")}: ends as by SIGPIPE; the run goes on`, async () => {
      const { code, err } = await unread(place, args);
      assert.equal(code, 141, err);
      assert.doesNotMatch(err, /EPIPE|at .*:\d+/);
      const [run] = (await server.client.runs()).filter(({ parentRun }) => parentRun === null);
      for await (const { event } of server.client.follow(run!.id))
        if (event.type === "run-end") assert.equal(event.status, "done");
    });

  test("colloquy run | head -n 1: one line is read", async () => {
    const { out, err } = await ended(start(firstLine, ["run", "--json", "what is 3*4?"], place));
    assert.match(out, /^\{"type":"run-start".*\}\n$/);
    assert.equal(err, "");
  });

  for (const flags of [[], ["--json"]])
    test(`colloquy chat ${flags.join(" ")}: leaves as by SIGPIPE`, async () => {
      const { code, err } = await unread(place, ["chat", ...flags], { input: "hi\nagain\n" });
      assert.deepEqual([code, err], [141, ""]);
    });

  test("colloquy mcp: ends when its client is gone", async () => {
    const child = start(`${nobodyReads} >&5`, ["mcp"], place);
    const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: hello })}\n`);
    const [code] = (await once(child, "close")) as [number];
    assert.equal(code, 0);
  });
});

describe("without a server", () => {
  let place: Place;
  before(async () => {
    place = await newPlace();
  });

  test("colloquy run: is finished by the process that began it", async () => {
    const { code, err } = await unread(place, ["run", "add a task to buy milk"]);
    assert.equal(code, 0, err);
    assert.match(err, /▸ add_task/);
    const listed = await ended(start('exec "$@"', ["runs"], place));
    assert.equal(listed.out, "No active runs. Use --all to include runs that have ended.\n");
  });

  test("colloquy export: that it could not be told is a failure; the export is whole", async () => {
    const folder = join(place.cwd, "export");
    const { code, err } = await unread(place, ["export", folder]);
    assert.equal(code, 1, err);
    assert.match(err, /colloquy: Standard output was closed\. .* rows and \d+ files exported to /);
    assert.doesNotMatch(err, /EPIPE|at .*:\d+/);
  });

  for (const streams of [">&5", ">&5 2>&5"])
    test(`colloquy serve ${streams}: nobody reads its log, and it serves until it is told to stop`, async () => {
      const child = start(`${nobodyReads} ${streams}`, ["serve"], place);
      const over = once(child, "close") as Promise<[number]>;
      let url: string | undefined;
      while (url === undefined && child.exitCode === null) {
        url = readHolder(place.env["COLLOQUY_DATA"]!)?.url;
        await sleep(50);
      }
      assert.ok(url, "it ended");
      const answer = await fetch(`${url}/api/nothing`);
      assert.equal(answer.status, 404);
      child.kill("SIGTERM");
      assert.deepEqual((await over)[0], 0);
    });
});
