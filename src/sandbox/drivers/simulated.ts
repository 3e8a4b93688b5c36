import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pipeOf } from "../process/first-process.ts";
import { runProcess } from "../process/run-process.ts";
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
import type { SimulatedOrder } from "./simulated-child.ts";
import { processTree } from "../process/process-tree.ts";
import { watchCommand } from "../process/watch-command.ts";

export function simulatedDriver(settings: DriverSettings = {}): SandboxDriver {
  return { name: "simulated", open: (signal) => openSimulated(settings, signal) };
}

/** A shell and its usual programs, played by a library: for trying out, and for machines that have nothing better. */
async function openSimulated(settings: DriverSettings, signal: AbortSignal): Promise<Sandbox> {
  const closing = new AbortController();
  const sandbox: Sandbox = {
    report: {
      driver: "simulated",
      grade: "simulated",
      gaps: [
        "no program of this machine runs: a shell is played, with stand-ins for the usual programs and a bare Python",
        "no signals, no jobs in the background; output comes at the end, and is exact only where it is text",
      ],
      runsPrograms: false,
      mounts: false,
      relay: false,
    },
    run: (command) => runSimulated(command, settings, AbortSignal.any([command.signal, closing.signal])),
    release: () => Promise.resolve(),
    close: () => Promise.resolve(closing.abort()),
  };
  await tryOnce(sandbox, signal);
  return sandbox;
}

async function tryOnce(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
  const workspace = await mkdtemp(join(tmpdir(), "colloquy-sandbox-"));
  try {
    const { stdout, stderr } = await sandbox.run({
      argv: ["bash", "-c", "echo tried > it; cat it"],
      workspace,
      signal,
    });
    signal.throwIfAborted();
    if (stdout.text !== "tried\n") throw new SandboxUnusable(stderr.text.trim());
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

async function runSimulated(
  command: SandboxCommand,
  settings: DriverSettings,
  signal: AbortSignal,
): Promise<SandboxResult> {
  const { argv, env = {}, stdin, onOutput, mounts = [], relay } = command;
  if (mounts.length > 0 || relay) throw new SandboxFailed("the simulated sandbox can show only the workspace");
  // Node.js compares its permissions with real paths.
  const workspace = await realpath(command.workspace);
  const limits = { ...defaultSandboxLimits, ...settings.limits, ...command.limits };
  const { timeoutMs, outputBytes, diskBytes, fileBytes, memoryBytes } = limits;
  const order: SimulatedOrder = {
    argv,
    workspace,
    environment: env,
    timeoutMs,
    outputBytes,
    readBytes: diskBytes,
    fileBytes,
  };
  return runProcess(
    {
      file: process.execPath,
      args: [...nodeArguments(workspace, memoryBytes), child],
      env: {},
      cwd: workspace,
      morePipes: 1,
      started(process, stop) {
        pipeOf(process, 3).end(JSON.stringify(order));
        command.onStarted?.(() => processTree(process.pid));
        return watchCommand(stop, { limits, pid: () => process.pid });
      },
    },
    { stdin, onOutput, limits, signal },
  );
}

const child = join(import.meta.dirname, "simulated-child.ts");

/** A second wall behind the library's: the process may read its code and the workspace, write only there, start nothing. */
function nodeArguments(workspace: string, memoryBytes: number): string[] {
  const [modules = ""] = /^.*node_modules/.exec(fileURLToPath(import.meta.resolve("just-bash"))) ?? [];
  const readable = [
    workspace,
    import.meta.dirname,
    join(import.meta.dirname, "../sandbox.ts"),
    join(import.meta.dirname, "../../../package.json"),
    modules,
  ];
  return [
    ...["--permission", "--allow-worker", `--allow-fs-write=${workspace}`],
    ...readable.map((path) => `--allow-fs-read=${path}`),
    ...[`--max-old-space-size=${Math.ceil(memoryBytes / 1024 ** 2)}`, "--no-warnings"],
  ];
}
