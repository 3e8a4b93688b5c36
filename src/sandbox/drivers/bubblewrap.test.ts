import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { bubblewrapDriver } from "./bubblewrap.ts";
import { findHierarchies } from "./cgroups-hierarchies.ts";
import { type Sandbox, type SandboxCommand, SandboxFailed, SandboxUnusable } from "../sandbox.ts";

const signal = AbortSignal.timeout(110_000);
const present = await bubblewrapDriver()
  .open(signal)
  .catch((error: unknown) => {
    if (!(error instanceof SandboxUnusable)) throw error;
    console.log(`LEFT OUT: bubblewrap does not work here: ${error.message}`);
    return undefined;
  });
await present?.close();

suite("bubblewrap", { skip: present ? false : "it does not work here" }, () => {
  let folder: string;
  let sandbox: Sandbox;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "colloquy-bubblewrap-"));
    sandbox = await bubblewrapDriver().open(signal);
  });
  after(async () => {
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  });
  const newFolder = () => mkdtemp(join(folder, "f-"));
  const run = async (script: string, options: Partial<SandboxCommand> = {}) =>
    sandbox.run({ argv: ["bash", "-c", script], workspace: await newFolder(), signal, ...options });

  test("a relay is the one address outside, and ends with its command", async () => {
    const server = createServer((request, response) => {
      let length = 0;
      request.on("data", (chunk: Buffer) => (length += chunk.length));
      request.on("end", () => response.end(`${request.method} ${length}`));
    });
    const socket = join(await newFolder(), "relay.sock");
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    const script = "head -c 300000 /dev/zero | curl -sS --data-binary @- http://127.0.0.1:4000/; exit 5";
    const result = await run(script, { relay: { socket, port: 4000 } });
    assert.deepEqual([result.stdout.text, result.exitCode, result.stderr.text], ["POST 300000", 5, ""]);
    const many = await run("for i in 1 2 3 4; do curl -sS http://127.0.0.1:4000/ & done; wait", {
      relay: { socket, port: 4000 },
    });
    assert.equal(many.stdout.text, "GET 0".repeat(4));
    const other = await run("curl -sS http://127.0.0.1:4001/; no-such-program", { relay: { socket, port: 4000 } });
    assert.equal(other.exitCode, 127);
    server.close();
  });

  test("output is written by its names too, and goes to its own command", async () => {
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        run(`echo ${at} > /dev/stdout; echo error ${at} > /dev/stderr; echo both | tee /dev/stderr`),
      ),
    );
    for (const [at, { stdout, stderr, exitCode }] of [...results, ...(await Promise.all([run("echo 12")]))].entries()) {
      assert.equal(exitCode, 0);
      assert.deepEqual([stdout.text, stderr.text], at === 12 ? ["12\n", ""] : [`${at}\nboth\n`, `error ${at}\nboth\n`]);
    }
  });

  test("mounts are there for reading only, wherever they are", async () => {
    const source = await newFolder();
    await chmod(source, 0o755);
    await writeFile(join(source, "file"), "text");
    const mounts = ["/opt/tool", "/tmp/deep/tool", "/run/tool"].map((target) => ({ source, target }));
    const script = "cat /opt/tool/file /tmp/deep/tool/file /run/tool/file; echo x > /opt/tool/file";
    const { stdout, exitCode } = await run(script, { mounts });
    assert.deepEqual([stdout.text, exitCode], ["texttexttext", 1]);
  });

  test("folders of the server's inside what is shown are hidden", async () => {
    const hidden = "/usr/share/zoneinfo";
    const careful = await bubblewrapDriver({ hidden: [hidden, folder] }).open(signal);
    const seen = async (box: Sandbox) =>
      (await box.run({ argv: ["ls", hidden], workspace: await newFolder(), signal })).stdout.text;
    assert.notEqual(await seen(sandbox), "");
    assert.equal(await seen(careful), "");
    await careful.close();
  });

  test("what it begins with is no more than it needs", async () => {
    const { stdout } = await run("ls -d /*; ls /etc; id -un; getent hosts localhost; ulimit -c");
    assert.doesNotMatch(stdout.text, /^\/(home|root|srv|var|mnt|boot|sys)$/m);
    assert.doesNotMatch(stdout.text, /^(shadow|environment|hostname|resolv\.conf)$/m);
    assert.match(stdout.text, /^sandbox\n(127\.0\.0\.1|::1) +localhost/m);
    assert.match(stdout.text, /\n0\n$/);
  });

  test("paths of this machine stand in nothing that it may read, but for what a mount tells", async () => {
    const workspace = await newFolder();
    const script =
      "pwd; env; cat /proc/*/cmdline /proc/*/environ /etc/passwd /proc/mounts 2>/dev/null | tr '\\0' ' '; cat nothing";
    const { stdout, stderr } = await run(script, { workspace });
    const said = stdout.text + stderr.text;
    for (const path of [workspace, folder, import.meta.dirname]) assert.ok(!said.includes(path), path);
    const mounts = (await run("cat /proc/self/mountinfo", { workspace })).stdout.text.split("\n");
    assert.deepEqual(
      mounts.filter((line) => line.includes(import.meta.dirname)),
      [],
    );
    assert.equal((await run("stat -c %a:%s /etc/passwd; id -un", { workspace })).stdout.text.split("\n")[1], "sandbox");
  });

  test("closing it ends what runs; what can't be started is said", async () => {
    const closing = await bubblewrapDriver().open(signal);
    const running = closing.run({ argv: ["sleep", "60"], workspace: await newFolder(), signal });
    await closing.close();
    assert.equal((await running).end, "aborted");
    await assert.rejects(run("true", { mounts: [{ source: "/no/such", target: "/x" }] }), SandboxFailed);
    await assert.rejects(run("true", { workspace: join(folder, "no-such") }));
    assert.equal((await run("echo never", { signal: AbortSignal.abort() })).end, "aborted");
  });

  test("a server that is killed leaves no processes, and its groups are removed by the next", async () => {
    const workspace = await newFolder();
    const program = join(import.meta.dirname, "../../../test/sandbox/command-until-killed.ts");
    const server = spawn(process.execPath, [program, workspace], { stdio: "ignore" });
    const beats = async () => (await stat(join(workspace, "beat")).catch(() => undefined))?.size ?? 0;
    await until(async () => (await beats()) > 2);
    server.kill("SIGKILL");
    await once(server, "exit");
    await until(async () => {
      const before = await beats();
      await sleep(100);
      return (await beats()) === before;
    });
    const left = async () => groupsOf(server.pid);
    const next = await bubblewrapDriver().open(signal);
    assert.deepEqual(await left(), []);
    await next.close();
  });

  test("of what this server was started with, a command has nothing open", async () => {
    const program = join(import.meta.dirname, "../../../test/sandbox/list-descriptors.ts");
    const stdio = Array.from(
      { length: 40 },
      (_, descriptor) => (descriptor === 39 ? "pipe" : "ignore") as "pipe" | "ignore",
    );
    const server = spawn(process.execPath, [program, await newFolder()], {
      stdio: ["ignore", "pipe", "inherit", ...stdio.slice(3)],
    });
    assert.ok(server.stdout);
    const { own, inside } = JSON.parse(await text(server.stdout)) as Record<string, number[]>;
    assert.ok(own!.includes(39));
    assert.deepEqual(inside, [0, 1, 2]);
  });

  test("groups are used again, and end with the sandbox", async () => {
    const closing = await bubblewrapDriver().open(signal);
    const before = await groupsOf(process.pid);
    await Promise.all(
      Array.from({ length: 12 }, async () => closing.run({ argv: ["true"], workspace: await newFolder(), signal })),
    );
    await closing.close();
    assert.equal((await groupsOf(process.pid)).length, (await findHierarchies()).length);
    assert.equal(before.length, 2 * (await findHierarchies()).length);
  });

  async function groupsOf(pid: number | undefined): Promise<string[]> {
    const bases = (await findHierarchies()).map(({ base }) => base);
    const names = await Promise.all(bases.map(async (base) => (await readdir(base)).map((name) => join(base, name))));
    return names.flat().filter((path) => path.includes(`/colloquy-${pid}-`));
  }
});

async function until(condition: () => Promise<boolean>): Promise<void> {
  const late = AbortSignal.timeout(10_000);
  while (!(await condition())) await sleep(20, undefined, { signal: late });
}
