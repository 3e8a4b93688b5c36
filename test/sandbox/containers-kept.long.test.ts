import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { engineEnvironment } from "../../src/config/load.ts";
import { messageOf } from "../../src/protocol/base/errors.ts";
import { containerDriver } from "../../src/sandbox/drivers/docker/docker.ts";
import { type Sandbox, type SandboxCommand, SandboxUnusable } from "../../src/sandbox/sandbox.ts";
import { stopsWithItsServer } from "./killed-server.ts";

const environment = engineEnvironment();
const signal = AbortSignal.timeout(300_000);

for (const engine of ["docker", "podman"] as const) {
  let sandbox: Sandbox | undefined;
  try {
    sandbox = await containerDriver(engine, { environment }).open(signal);
  } catch (error) {
    console.log(`LEFT OUT: ${engine} does not work here: ${messageOf(error)}`);
  }
  suite(engine, { skip: sandbox ? false : "it does not work here" }, () => {
    let folder: string;
    before(async () => void (folder = await mkdtemp(join(tmpdir(), "colloquy-containers-"))));
    after(async () => {
      await sandbox?.close();
      await rm(folder, { recursive: true, force: true });
    });
    const newWorkspace = () => mkdtemp(join(folder, "workspace-"));
    const run = (workspace: string, script: string, options: Partial<SandboxCommand> = {}) =>
      sandbox!.run({ argv: ["bash", "-c", script], workspace, signal, ...options });
    const names = async () => {
      const list = ["ps", "--all", "--filter", "label=colloquy.sandbox", "--format", "{{.Names}}"];
      const { stdout } = await promisify(execFile)(engine, list, { env: environment });
      return stdout.split("\n").filter(Boolean);
    };
    /** The engine removes a container a moment after its end. */
    const untilThereAre = async (count: number) => {
      for (let tries = 0; tries < 100 && (await names()).length !== count; tries++) await sleep(100);
      assert.equal((await names()).length, count);
    };

    test("a workspace's container is kept for its next command, and another made for what runs beside it", async () => {
      const workspace = await newWorkspace();
      await run(workspace, "echo kept > /tmp/mark");
      const [first, second] = await Promise.all([1, 2].map(() => run(workspace, "cat /tmp/mark; sleep 1")));
      assert.deepEqual([first!.stdout.text, second!.stdout.text].sort(), ["", "kept\n"]);
      await untilThereAre(1);
      assert.equal((await run(workspace, "cat /tmp/mark", { limits: { processes: 30 } })).stdout.text, "");
      await sandbox!.release(workspace);
      await untilThereAre(0);
    });

    test("at most some are kept", async () => {
      for (let count = 0; count < 10; count++) await run(await newWorkspace(), "true");
      await untilThereAre(8);
    });

    test("a container that is removed from outside is made anew, and its command fails", async () => {
      const workspace = await newWorkspace();
      await run(workspace, "true");
      const remove = async () => {
        for (const name of await names()) await promisify(execFile)(engine, ["kill", name], { env: environment });
      };
      await remove();
      assert.equal((await run(workspace, "echo again")).stdout.text, "again\n");
      await assert.rejects(run(workspace, "echo on; sleep 60", { onOutput: () => void remove() }), /container ended/);
      assert.equal((await run(workspace, "echo again")).stdout.text, "again\n");
    });

    test("zombies are reaped", async () => {
      const workspace = await newWorkspace();
      await run(workspace, "for i in $(seq 50); do (sleep 0 &) ; done; sleep 0.5");
      const { stdout } = await run(workspace, "grep -l 'State:.Z' /proc/[0-9]*/status | wc -l");
      assert.equal(stdout.text, "0\n");
    });

    test("what may be secret is in no list of processes", async () => {
      const seen = promisify(execFile);
      let list = "";
      await run(await newWorkspace(), "echo $A_TOKEN; sleep 0.5", {
        env: { A_TOKEN: "hidden-word" },
        onOutput: (text) => {
          assert.equal(text, "hidden-word\n");
          void seen("ps", ["axww"]).then(({ stdout }) => (list = stdout));
        },
      });
      assert.match(list, new RegExp(`${engine} exec`));
      assert.doesNotMatch(list, /hidden-word/);
    });

    test("everything ends with the server", async () => {
      await sandbox!.close();
      await untilThereAre(0);
      assert.ok(await stopsWithItsServer(engine));
      await untilThereAre(0);
    });
  });
}

test("what is missing is told with what to do", async () => {
  const open = (image: string, more: Record<string, string> = {}) =>
    containerDriver("docker", { image, environment: { ...environment, ...more } }).open(signal);
  const told = (text: RegExp) => (error: unknown) => error instanceof SandboxUnusable && text.test(error.message);
  await assert.rejects(open("any", { DOCKER_HOST: "unix:///nowhere" }), told(/^docker does not answer: .+/));
  await assert.rejects(open("any", { PATH: "/nowhere" }), told(/^docker is not installed$/));
  if (
    !(await open("python:3.11-slim").then(
      (sandbox) => sandbox.close(),
      () => "none",
    ))
  ) {
    const image = "colloquy.invalid/none:1";
    await assert.rejects(
      open(image),
      told(/^the image colloquy.invalid\/none:1 is not here; to get it: docker pull colloquy.invalid\/none:1$/),
    );
  }
});
