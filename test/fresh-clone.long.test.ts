import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

const root = join(import.meta.dirname, "..");
const clone = mkdtempSync(join(tmpdir(), "colloquy-clone-"));
after(() => rmSync(clone, { recursive: true, force: true, maxRetries: 5 }));

/** What git would hand out, and what it would once the open changes are committed. */
function copyCheckout(): void {
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const file of list.toString().split("\0")) {
    if (file !== "" && existsSync(join(root, file))) cpSync(join(root, file), join(clone, file), { recursive: true });
  }
}

/** As in a user's shell: nothing of the npm and the test runner that run this. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const ours = /^(npm_|COLLOQUY_|(INIT_CWD|NODE_ENV|NODE_OPTIONS|NODE_TEST_CONTEXT|NODE_COMPILE_CACHE)$)/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

test("on a fresh clone `npm start` sets everything up and serves; SIGTERM ends it", { timeout: 300_000 }, async () => {
  copyCheckout();
  const port = await freePort();
  const env = { ...plainEnvironment(), COLLOQUY_PORT: String(port), COLLOQUY_PROBE: "false" };
  const server = spawn("npm", ["start"], { cwd: clone, env, detached: true });
  const exited = once(server, "exit");
  let output = "";
  server.stdout.on("data", (chunk) => (output += chunk));
  server.stderr.on("data", (chunk) => (output += chunk));
  try {
    await Promise.race([answers(`http://127.0.0.1:${port}/health`), exited.then(() => assert.fail(output))]);
    assert.match(output, /installing packages/);
    server.kill("SIGTERM");
    await exited;
    await assert.rejects(fetch(`http://127.0.0.1:${port}/health`));
  } finally {
    killGroup(server.pid!);
  }
});

/** Whatever is left of what npm started. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

async function answers(url: string): Promise<void> {
  for (;;) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return assert.deepEqual(await response.json(), { status: "ok" });
    await sleep(200);
  }
}
