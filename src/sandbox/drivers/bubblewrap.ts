import { readFileSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  bubblewrapArguments,
  bubblewrapOptions,
  descriptors,
  type Layout,
  prepared,
  settingsGiven,
} from "./bubblewrap-arguments.ts";
import { type Groups, openGroups } from "./cgroups.ts";
import { createFirstProcess, pipeOf } from "../process/first-process.ts";
import { relayedCommand } from "../process/relayed-command.ts";
import { type Program, runProcess } from "../process/run-process.ts";
import {
  defaultSandboxLimits,
  type DriverSettings,
  type Sandbox,
  type SandboxCommand,
  type SandboxDriver,
  SandboxFailed,
  SandboxUnusable,
  workspaceTarget,
} from "../sandbox.ts";
import { giveToSandboxUser, workspaceOwner } from "../workspace/owner.ts";
import { seccompFilter } from "./seccomp.ts";
import { sandboxPath } from "../process/system-view.ts";
import { processTree, watchMemory } from "../process/process-tree.ts";

export type BubblewrapOptions = {
  /** False: as where this process may make no control groups. */
  readonly groups?: boolean;
};

export function bubblewrapDriver(settings: DriverSettings = {}, options: BubblewrapOptions = {}): SandboxDriver {
  return { name: "bubblewrap", open: (signal) => openBubblewrap(settings, signal, options) };
}

/**
 * Namespaces of the kernel's, made anew for each command: nothing is kept between two, and with the first process in
 * such a namespace all of it dies.
 */
export async function openBubblewrap(
  settings: DriverSettings,
  signal: AbortSignal,
  { groups: wanted = true }: BubblewrapOptions = {},
): Promise<Sandbox> {
  const hidden = await shownFolders(settings.hidden ?? []);
  const groups = wanted ? await openGroups().catch(() => undefined) : undefined;
  try {
    return await openTried({ settings, hidden, groups }, signal);
  } catch (error) {
    if (!groups || !(error instanceof SandboxUnusable)) throw error;
    // Perhaps groups can be made here, but not entered.
    await groups.close();
    return openTried({ settings, hidden, groups: undefined }, signal);
  }
}

async function openTried(parts: Omit<BubblewrapDeps, "inherited">, signal: AbortSignal): Promise<Sandbox> {
  const inherited = await listInherited(createBubblewrap({ ...parts, inherited: [] }), signal);
  return createBubblewrap({ ...parts, inherited });
}

type BubblewrapDeps = {
  readonly settings: DriverSettings;
  /** Folders inside what commands see that they must not. */
  readonly hidden: readonly string[];
  readonly groups: Groups | undefined;
  /** Descriptors that this server was started with and Node.js passes on. */
  readonly inherited: readonly number[];
};

const ownFile = (name: string) => readFileSync(join(import.meta.dirname, "etc", name));
const ownSettings = { passwd: ownFile("passwd"), group: ownFile("group"), hosts: ownFile("hosts") };

function createBubblewrap({ settings, hidden, groups, inherited }: BubblewrapDeps): Sandbox {
  const filter = seccompFilter();
  const layout: Layout = { isRoot: workspaceOwner !== undefined, hidden, hasGroups: groups !== undefined };
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();

  const run = async (command: SandboxCommand) => {
    const limits = { ...defaultSandboxLimits, ...settings.limits, ...command.limits };
    refuseLoaderVariables(command.env);
    const [group] = await Promise.all([groups?.take(limits), giveToSandboxUser(command)]);
    const relayed = relayedCommand(command);
    const options = bubblewrapOptions(relayed, { layout, filter: filter !== undefined });
    const args = bubblewrapArguments(relayed, limits, layout);
    const [file, ...rest] = prepared(["bwrap", ...args], { entries: group?.entries ?? [], inherited });
    const first = createFirstProcess(descriptors);
    const program: Program = {
      file,
      args: rest,
      env: { ...command.env, PATH: sandboxPath, HOME: workspaceTarget, LANG: "C.UTF-8" },
      morePipes: Object.keys(descriptors).length,
      started(child, stop) {
        pipeOf(child, descriptors.filter).end(filter ?? "");
        pipeOf(child, descriptors.options).end(options);
        for (const name of settingsGiven) pipeOf(child, descriptors[name]).end(ownSettings[name]);
        first.begin(child);
        command.onStarted?.(() => processTree(first.pid()));
        const ending = new AbortController();
        const watch = { pid: first.pid, signal: ending.signal };
        if (!groups)
          void watchMemory({ ...watch, limitBytes: limits.memoryBytes, onFull: () => stop("out-of-memory") });
        return () => ending.abort();
      },
      kill: first.kill,
      gone: first.end,
    };
    const signal = AbortSignal.any([command.signal, closing.signal]);
    try {
      const result = await runProcess(program, { ...command, limits, signal });
      if (result.end !== "exited" || result.exitCode === 0) return result;
      if (!first.hasBegun()) throw new SandboxFailed(result.stderr.text.trim());
      return (await group?.ranOutOfMemory())
        ? { ...result, end: "out-of-memory" as const, exitCode: undefined }
        : result;
    } finally {
      group?.giveBack();
    }
  };

  return {
    report: {
      driver: "bubblewrap",
      grade: filter ? "strong" : "partial",
      gaps: gapsOf(groups, filter !== undefined),
      runsPrograms: true,
      mounts: true,
      relay: true,
    },
    run(command) {
      const result = run(command).finally(() => running.delete(result));
      running.add(result);
      return result;
    },
    release: () => Promise.resolve(),
    async close() {
      closing.abort();
      await Promise.allSettled(running);
      await groups?.close();
    },
  };
}

function gapsOf(groups: Groups | undefined, hasFilter: boolean): string[] {
  const processor = "how much of the processors a command takes is bounded by its time only";
  return [
    ...(hasFilter ? [] : [`calls into the kernel are not filtered on this processor (${process.arch})`]),
    ...(groups
      ? []
      : ["memory is counted four times a second, not by the kernel: the server may make no control groups"]),
    ...(groups?.limitsCpu ? [] : [processor]),
    ...(!groups && workspaceOwner ? ["processes are counted for all commands together"] : []),
  ];
}

const listOpen = 'for f in /proc/self/fd/*; do [ -e "$f" ] && echo "${f##*/}"; done; true';

/** Which descriptors a command has open that it should not. Throws SandboxUnusable with what bubblewrap says. */
async function listInherited(sandbox: Sandbox, signal: AbortSignal): Promise<number[]> {
  const workspace = await mkdtemp(join(tmpdir(), "colloquy-sandbox-"));
  try {
    const { exitCode, stdout, stderr } = await sandbox.run({ argv: ["sh", "-c", listOpen], workspace, signal });
    if (exitCode !== 0) throw new SandboxFailed(stderr.text.trim());
    return stdout.text
      .split("\n")
      .map(Number)
      .filter((descriptor) => descriptor > 2);
  } catch (error) {
    if (!(error instanceof SandboxFailed)) throw error;
    const reason = /ENOENT|bwrap: not found/.test(error.message)
      ? "it is not installed: apt-get install bubblewrap"
      : error.message;
    throw new SandboxUnusable(reason, { cause: error });
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

/** Bubblewrap itself begins with the command's environment, perhaps as root. */
function refuseLoaderVariables(env: SandboxCommand["env"] = {}): void {
  const name = Object.keys(env).find((each) => each.startsWith("LD_"));
  if (name !== undefined) throw new SandboxFailed(`a command can't be given ${name}`);
}

/** Under /usr a server may have been put too, with its settings and its data. */
async function shownFolders(hidden: readonly string[]): Promise<string[]> {
  const real = await Promise.all(hidden.map((folder) => realpath(folder).catch(() => folder)));
  return real.filter((folder) => /^\/(usr|bin|sbin|lib\w*)\//.test(folder));
}
