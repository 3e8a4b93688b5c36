import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { pipeOf } from "../process/first-process.ts";
import { removeTree } from "../workspace/remove-tree.ts";
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
import { giveToSandboxUser, workspaceOwner } from "../workspace/owner.ts";
import { seccompFilter } from "./seccomp.ts";
import { sandboxPath, visibleSettings } from "../process/system-view.ts";
import { processTree } from "../process/process-tree.ts";
import { watchCommand } from "../process/watch-command.ts";

const launcher = join(import.meta.dirname, "landlock-launcher.py");
const interpreters = ["/usr/bin/python3", "/usr/local/bin/python3"];
const devices = ["null", "zero", "full", "random", "urandom"].map((name) => `/dev/${name}`);
/** The program that ends a command may itself be stuck. */
const endsWithinMs = 10_000;

export function landlockDriver(settings: DriverSettings = {}): SandboxDriver {
  return { name: "landlock", open: (signal) => openLandlock(settings, signal) };
}

/**
 * Walls that a process puts up around itself, where namespaces can't be had: in most containers. Commands see this
 * machine's programs and their workspace under its own path.
 */
async function openLandlock(settings: DriverSettings, signal: AbortSignal): Promise<Sandbox> {
  if (process.platform !== "linux") throw new SandboxUnusable("only Linux has Landlock");
  const python = interpreters.find((path) => existsSync(path));
  if (!python) throw new SandboxUnusable(`it needs a Python: there is none at ${interpreters.join(" or ")}`);
  const version = await askVersion(python, signal);
  if (version === 0) throw new SandboxUnusable("this kernel has no Landlock, or it is switched off");
  if (version < 3 && !workspaceOwner)
    throw new SandboxUnusable(
      "commands could empty the server's files: that needs Linux 6.2, or a server that is root",
    );
  const readable = readablePaths(settings.hidden ?? []);
  const filter = seccompFilter(process.arch, []);
  const closing = new AbortController();

  return {
    report: {
      driver: "landlock",
      grade: "partial",
      gaps: gapsOf(version, filter !== undefined),
      runsPrograms: true,
      mounts: false,
      relay: false,
    },
    run: (command) =>
      withTemporaryFolder((temporary) =>
        runLaunched({ settings, python, readable, filter, temporary, command, closing: closing.signal }),
      ),
    release: () => Promise.resolve(),
    close: () => Promise.resolve(closing.abort()),
  };
}

async function askVersion(python: string, signal: AbortSignal): Promise<number> {
  try {
    const { stdout } = await promisify(execFile)(python, ["-I", "-S", launcher, "version"], { env: {}, signal });
    return Number(stdout);
  } catch (cause) {
    signal.throwIfAborted();
    throw new SandboxUnusable(`its launcher does not work: ${String(cause)}`, { cause });
  }
}

function gapsOf(version: number, hasFilter: boolean): string[] {
  return [
    "commands see the workspace under its own path, not as /workspace, and the machine's processes share one memory",
    "files outside can't be read or changed, but whether they are there and how large they are can be seen",
    "processor time is shared with the server",
    ...(workspaceOwner ? [] : ["commands are the server's user: they may change modes and times of its files"]),
    ...(hasFilter ? [] : [`no filter of system calls for this processor (${process.arch}): UDP and unix sockets`]),
    ...(version < 4 && !hasFilter ? ["commands reach the network of this machine"] : []),
    ...(version < 6 ? [`commands may send signals to ${workspaceOwner ? "one another" : "the server"}`] : []),
  ];
}

/** Gives one command a temporary folder, since it can't have a /tmp of its own. */
async function withTemporaryFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const outer = await mkdtemp(join(tmpdir(), "colloquy-command-"));
  const folder = join(outer, "tmp");
  try {
    await mkdir(folder, { mode: 0o700 });
    if (workspaceOwner) {
      await chmod(outer, 0o711);
      await chown(folder, workspaceOwner.uid, workspaceOwner.gid);
    }
    return await work(folder);
  } finally {
    await removeTree(folder, { isDeserted: true });
    await removeTree(outer);
  }
}

type LandlockCommand = {
  readonly settings: DriverSettings;
  readonly python: string;
  readonly readable: readonly string[];
  readonly filter: Buffer | undefined;
  readonly temporary: string;
  readonly command: SandboxCommand;
  readonly closing: AbortSignal;
};

async function runLaunched(work: LandlockCommand): Promise<SandboxResult> {
  const { settings, python, readable, filter, temporary, command, closing } = work;
  const { workspace, argv, env, mounts = [], relay } = command;
  const moved = mounts.find(({ source, target }) => source !== target);
  if (moved || relay)
    throw new SandboxFailed(`landlock can't show ${moved?.source ?? "a socket"} under another address`);
  const limits = { ...defaultSandboxLimits, ...settings.limits, ...command.limits };
  const { memoryBytes, fileBytes, processes } = limits;
  const failed = randomUUID();
  await giveToSandboxUser(command);
  const orders = {
    ...{ argv, workspace, temporary, devices, failed, memoryBytes, fileBytes, processes },
    readable: [...readable, ...mounts.map(({ source }) => source)],
    // With a level of its own, a shell whose input is a socket does not take it for a login from outside.
    environment: { PATH: sandboxPath, LANG: "C.UTF-8", SHLVL: "1", TMPDIR: temporary, ...env },
    filter: filter?.toString("hex") ?? "",
    owner: workspaceOwner ?? null,
    server: process.pid,
  };
  let late: NodeJS.Timeout | undefined;
  const result = await runProcess(
    {
      file: python,
      args: ["-I", "-S", launcher, "run"],
      env: {},
      cwd: workspace,
      morePipes: 1,
      started(child, stop) {
        pipeOf(child, 3).end(JSON.stringify(orders));
        command.onStarted?.(() => processTree(child.pid));
        const watch = { temporary, limits, pid: () => child.pid };
        const unwatch = watchCommand(stop, watch);
        return () => {
          unwatch();
          clearTimeout(late);
        };
      },
      // It ends all that the command started, and then itself.
      kill(child) {
        child.kill("SIGTERM");
        late ??= setTimeout(() => killGroup(child), endsWithinMs);
      },
    },
    { ...command, limits, signal: AbortSignal.any([command.signal, closing]) },
  );
  if (result.stderr.text.includes(failed))
    throw new SandboxFailed(result.stderr.text.replace(`${failed}: `, "").trim());
  return result;
}

const systemFolders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Returns the paths of this machine that commands may read: its programs, without hidden ones. */
export function readablePaths(hidden: readonly string[]): string[] {
  const roots = new Set([...systemFolders, ...visibleSettings].flatMap(real));
  return [...roots].flatMap((root) => without(root, hidden.flatMap(real)));
}

/** Rights are given to folders with all that is below: around a hidden one, they are given to its neighbours. */
function without(root: string, hidden: readonly string[]): string[] {
  if (hidden.includes(root)) return [];
  if (!hidden.some((path) => path.startsWith(`${root}/`))) return [root];
  return readdirSync(root).flatMap((name) => without(join(root, name), hidden));
}

function real(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    // Not every system has each of them.
    return [];
  }
}
