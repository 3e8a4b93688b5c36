import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxDriver } from "../../src/sandbox/sandbox.ts";

const program = join(import.meta.dirname, "serve-until-killed.ts");

/** Whether a command stops soon after its server was killed, and all that left its session with it. */
export async function stopsWithItsServer(name: SandboxDriver["name"]): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-killed-"));
  await chmod(folder, 0o755);
  const workspace = await mkdtemp(join(folder, "workspace-"));
  const size = () => stat(join(workspace, "beat")).then((stats) => stats.size);
  try {
    // Who is killed does not clean up.
    const env = { ...process.env, TMPDIR: folder };
    const server = spawn(process.execPath, [program, name, workspace], { env, stdio: ["ignore", "ignore", "inherit"] });
    const [, signal] = await once(server, "exit");
    if (signal !== "SIGKILL") throw new Error(`the server ended by ${signal}`);
    for (let tries = 0, before = await size(); tries < 50; tries++) {
      await sleep(200);
      const now = await size();
      if (now === before) return true;
      before = now;
    }
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
