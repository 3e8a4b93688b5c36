import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { killGroup, runProcess } from "../process/run-process.ts";
import {
  defaultSandboxLimits,
  type DriverSettings,
  type Sandbox,
  type SandboxCommand,
  type SandboxDriver,
  SandboxFailed,
  type SandboxResult,
  SandboxUnusable,
} from "../sandbox.ts";
import { sandboxPath } from "../process/system-view.ts";
import { processTree } from "../process/process-tree.ts";
import { watchCommand } from "../process/watch-command.ts";

/** Environment variable that identifies a command's processes, wherever they went. */
const mark = "COLLOQUY_COMMAND";
const endsWithinMs = 10_000;

export function unsafeNativeDriver(settings: DriverSettings = {}): SandboxDriver {
  return {
    name: "unsafe-native",
    open() {
      if (process.platform === "win32") return Promise.reject(new SandboxUnusable("bash is not available on Windows"));
      return Promise.resolve(createUnsafeNative(settings));
    },
  };
}

/** No sandbox at all: commands are processes of the server's user, only without its environment. */
function createUnsafeNative(settings: DriverSettings): Sandbox {
  const closing = new AbortController();
  return {
    report: {
      driver: "unsafe-native",
      grade: "none",
      gaps: [
        "COMMANDS ARE NOT ISOLATED FROM THIS MACHINE: they can do everything that the server's user can",
        "a process that changes its environment and its group outlives its command",
      ],
      runsPrograms: true,
      mounts: false,
      relay: false,
    },
    run: (command) => runNative(command, settings, AbortSignal.any([command.signal, closing.signal])),
    release: () => Promise.resolve(),
    close: () => Promise.resolve(closing.abort()),
  };
}

async function runNative(
  command: SandboxCommand,
  settings: DriverSettings,
  signal: AbortSignal,
): Promise<SandboxResult> {
  const { argv, workspace, mounts = [], relay, env } = command;
  const [file = "", ...args] = argv;
  const moved = mounts.find(({ source, target }) => source !== target);
  if (moved || relay) throw new SandboxFailed("commands outside of a sandbox have the addresses of this machine");
  const limits = { ...defaultSandboxLimits, ...settings.limits, ...command.limits };
  const id = randomUUID();
  return runProcess(
    {
      // A shell, so that a program that is not there is a result like any other.
      file: "/bin/bash",
      args: [
        "-c",
        'ulimit -f "$1"; shift; exec "$@"',
        "bash",
        String(Math.floor(limits.fileBytes / 1024)),
        file,
        ...args,
      ],
      // With a level of its own, a shell whose input is a socket does not take it for a login from outside.
      env: { PATH: sandboxPath, HOME: workspace, LANG: "C.UTF-8", SHLVL: "1", ...env, [mark]: id },
      cwd: workspace,
      started(child, stop) {
        command.onStarted?.(() => processTree(child.pid));
        return watchCommand(stop, { limits, pid: () => child.pid });
      },
      kill(child) {
        killGroup(child);
        void endMarked(id);
      },
      gone: () => endMarked(id),
    },
    { ...command, limits, signal },
  );
}

/** Ends what left the process group too. */
async function endMarked(id: string): Promise<void> {
  const latest = performance.now() + endsWithinMs;
  for (let left = await marked(id); left.length > 0; left = await marked(id)) {
    if (performance.now() > latest) throw new SandboxFailed("processes of a command could not be ended");
    for (const pid of left) kill(pid);
    await sleep(2);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile, or became somebody else whom we may not end.
  }
}

/** Elsewhere than on Linux nobody can be found so. */
async function marked(id: string): Promise<number[]> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name));
  const isMarked = async (pid: string) =>
    (await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "")).includes(`${mark}=${id}`);
  const found = await Promise.all(pids.map(isMarked));
  return pids.filter((_, index) => found[index]).map(Number);
}
