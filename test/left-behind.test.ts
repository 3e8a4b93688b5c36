import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { temporaryFolder } from "./pglite.ts";

/** Makes a temporary folder, which first removes what was left behind; prints its path and stays. */
const owner = `import { temporaryFolder } from "${join(import.meta.dirname, "pglite.ts")}";
process.stdout.write(temporaryFolder("left-behind"));
process.stdin.resume();`;
const program = [process.execPath, "--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", owner];
const inNewNamespace = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];

const nobody = 65_534;
const skipUnlessRoot = process.getuid?.() === 0 ? false : "only root may act as another user";
const skipWithoutNamespace =
  spawnSync(inNewNamespace[0]!, [...inNewNamespace.slice(1), "true"]).status === 0
    ? false
    : "no PID namespace can be made here";

/** The only folder that these processes look through. */
let place: string;
const running = new Set<ChildProcess>();

beforeEach(() => void (place = temporaryFolder("place")));
after(() => running.forEach((child) => child.kill("SIGKILL")));

/** A process that has a temporary folder. */
async function start(before: readonly string[] = [], options: SpawnOptions = {}) {
  const [file = "", ...args] = [...before, ...program];
  const env = { PATH: process.env["PATH"], TMPDIR: place };
  const child = spawn(file, args, { ...options, env, stdio: ["pipe", "pipe", "inherit"] });
  running.add(child);
  const exited = once(child, "exit").finally(() => running.delete(child));
  const [folder] = await Promise.race([once(child.stdout!, "data"), exited]);
  assert.ok(folder instanceof Buffer, "the process ended before it had a folder");
  return {
    folder: folder.toString(),
    async end(signal?: NodeJS.Signals) {
      if (signal) child.kill(signal);
      else child.stdin!.end();
      await exited;
    },
  };
}

/** Has another process look through the place. */
async function look(before: readonly string[] = [], options: SpawnOptions = {}): Promise<void> {
  const other = await start(before, options);
  await other.end();
  assert.ok(!existsSync(other.folder), "a process that ends by itself leaves its folder behind");
}

async function leftByKilled(before: readonly string[] = []): Promise<string> {
  const { folder, end } = await start(before);
  await end("SIGKILL");
  assert.ok(existsSync(folder));
  return folder;
}

test("what a killed process left goes, what a living one has stays", async () => {
  const killed = await leftByKilled();
  const living = await start();
  await look();
  assert.deepEqual([existsSync(killed), existsSync(living.folder)], [false, true]);
  await living.end();
});

test(
  "the folder of a process that another PID namespace does not see stays",
  { skip: skipWithoutNamespace },
  async () => {
    const living = await start();
    await look(inNewNamespace);
    assert.ok(existsSync(living.folder));
    await living.end();
  },
);

test(
  "what a killed process of another PID namespace left goes after a day",
  { skip: skipWithoutNamespace },
  async () => {
    const killed = await leftByKilled(inNewNamespace);
    await look();
    assert.ok(existsSync(killed), "nobody here can know that it is dead");
    const longAgo = Date.now() / 1000 - 25 * 3600;
    utimesSync(killed, longAgo, longAgo);
    await look();
    assert.ok(!existsSync(killed));
  },
);

test("what another user's killed process left stays, whoever looks", { skip: skipUnlessRoot }, async () => {
  const ofNobody = await leftByKilled();
  chownSync(ofNobody, nobody, nobody);
  const ofRoot = await leftByKilled();
  assert.ok(existsSync(ofNobody));
  // As /tmp is.
  chmodSync(place, 0o1777);
  await look([], { uid: nobody, gid: nobody });
  assert.deepEqual([existsSync(ofRoot), existsSync(ofNobody)], [true, false]);
});
