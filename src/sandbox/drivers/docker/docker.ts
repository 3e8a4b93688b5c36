import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ContainerKind, type ContainerUser, execArguments, ownLabel } from "./arguments.ts";
import { type Container, startContainer } from "./container.ts";
import { askEngine, type ContainerEngine, ensureImage } from "./engine.ts";
import { createContainerPool } from "./pool.ts";
import { tryContainer } from "./trial.ts";
import { relayedCommand } from "../../process/relayed-command.ts";
import { type Program, runProcess } from "../../process/run-process.ts";
import {
  defaultSandboxLimits,
  type DriverSettings,
  type Sandbox,
  type SandboxCommand,
  type SandboxDriver,
  SandboxFailed,
  type SandboxLimits,
  type SandboxResult,
  SandboxUnusable,
} from "../../sandbox.ts";
import { giveToSandboxUser, workspaceOwner } from "../../workspace/owner.ts";
import { errors, newNamespaces, refusedCalls, reservations, socketFamilies, terminalInput } from "../seccomp.ts";

const usualImage = "python:3.11-slim";
/** How often those are killed again whom the engine starts while they are being killed. */
const killAgainMs = 100;

export function containerDriver(name: ContainerEngine["name"], settings: DriverSettings = {}): SandboxDriver {
  return {
    name,
    open: (signal) => openContainers({ name, environment: settings.environment ?? {} }, settings, signal),
  };
}

/** A container for each workspace, kept for a while, in which commands run one after the other. */
async function openContainers(
  engine: ContainerEngine,
  settings: DriverSettings,
  signal: AbortSignal,
): Promise<Sandbox> {
  const { image = usualImage, limits = {} } = settings;
  await ensureImage(engine, image, signal);
  await removeEnded(engine, signal);
  const folder = await mkdtemp(join(tmpdir(), "colloquy-containers-"));
  const filter = join(folder, "filter.json");
  try {
    await writeFile(filter, JSON.stringify(containerFilter()));
    for (const user of users()) {
      const sandbox = await openAs({ engine, image, filter, limits, user }, signal);
      if (!sandbox) continue;
      const close = () => sandbox.close().finally(() => rm(folder, { recursive: true, force: true }));
      return { ...sandbox, close };
    }
    throw new SandboxUnusable("containers can't write into a workspace as a user of this machine");
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error instanceof SandboxFailed ? new SandboxUnusable(error.message, { cause: error }) : error;
  }
}

/** Undefined: in containers this user is somebody else. */
async function openAs(parts: DockerDeps, signal: AbortSignal): Promise<Sandbox | undefined> {
  const commands = createCommands(parts);
  try {
    const trial = await tryContainer(commands, signal);
    if (trial)
      return { ...commands, report: { driver: parts.engine.name, runsPrograms: true, mounts: true, ...trial } };
  } catch (error) {
    await commands.close();
    throw error;
  }
  await commands.close();
  return undefined;
}

/** Without root's rights an engine's root is the server's own user, and its other users are nobody's. */
function users(): readonly ContainerUser[] {
  const { uid, gid } = workspaceOwner ?? { uid: process.getuid?.() ?? 1000, gid: process.getgid?.() ?? 1000 };
  return [`${uid}:${gid}`, "0:0"];
}

/** Removes containers that ended with an earlier server and could not be removed then, as far as the engine allows. */
async function removeEnded(engine: ContainerEngine, signal: AbortSignal): Promise<void> {
  const ofOurs = ["--filter", `label=${ownLabel}`, "--filter", "status=exited"];
  const ended = await askEngine(engine, ["ps", "--all", "--quiet", ...ofOurs], signal).catch(() => "");
  if (ended !== "") await askEngine(engine, ["rm", "--force", ...ended.split("\n")], signal).catch(() => "");
}

type DockerDeps = {
  readonly engine: ContainerEngine;
  readonly image: string;
  readonly filter: string;
  readonly limits: Partial<SandboxLimits>;
  readonly user: ContainerUser;
};

function createCommands({ engine, image, filter, limits: usual, user }: DockerDeps): Omit<Sandbox, "report"> {
  const pool = createContainerPool((kind, signal) => startContainer(engine, kind, signal));
  const closing = new AbortController();

  const run = async (asked: SandboxCommand): Promise<SandboxResult> => {
    const command = { ...relayedCommand(asked), signal: AbortSignal.any([asked.signal, closing.signal]) };
    const limits = { ...defaultSandboxLimits, ...usual, ...command.limits };
    const { workspace, mounts = [] } = command;
    const { memoryBytes, processes, cpus } = limits;
    const kind: ContainerKind = { image, filter, workspace, mounts, limits: { memoryBytes, processes, cpus } };
    await giveToSandboxUser(command);
    let container: Container;
    try {
      container = await pool.take(kind, command.signal);
    } catch (error) {
      if (command.signal.aborted) return aborted;
      throw error;
    }
    try {
      return await runIn(container, { engine, user, command, limits });
    } finally {
      await pool.giveBack(kind, container);
    }
  };

  return {
    run,
    release: (workspace) => pool.close(workspace),
    async close() {
      closing.abort();
      await pool.close();
    },
  };
}

const nothing = { text: "", bytes: 0, omittedBytes: 0 };
const aborted: SandboxResult = { end: "aborted", exitCode: undefined, stdout: nothing, stderr: nothing, durationMs: 0 };

type ContainerCommand = {
  readonly engine: ContainerEngine;
  readonly user: ContainerUser;
  readonly command: SandboxCommand;
  readonly limits: SandboxLimits;
};

async function runIn(
  container: Container,
  { engine, user, command, limits }: ContainerCommand,
): Promise<SandboxResult> {
  const killedBefore = await container.endProcesses();
  let killed = killedBefore;
  const { args, env } = execArguments(container.name, command, { user, fileBytes: limits.fileBytes });
  let killing: NodeJS.Timeout | undefined;
  const program: Program = {
    file: engine.name,
    args,
    env: { ...env, ...engine.environment },
    started() {
      command.onStarted?.(container.processes);
      return () => {};
    },
    // The engine's program itself is left to end: the engine may only be about to start the command.
    kill(child) {
      if (killing) return;
      const kill = () => void container.endProcesses().catch(() => child.kill("SIGKILL"));
      killing = setInterval(kill, killAgainMs);
      kill();
    },
    async gone() {
      clearInterval(killing);
      killed = await container.endProcesses().catch(async (error: unknown) => {
        await container.close();
        throw error;
      });
    },
  };
  const result = await runProcess(program, { ...command, limits });
  return result.end === "exited" && killed > killedBefore
    ? { ...result, end: "out-of-memory", exitCode: undefined }
    : result;
}

/** Returns the common filter of system calls in the format of container engines. */
function containerFilter(): object {
  const refuse = (names: readonly string[], errnoRet: number, args: readonly object[] = []) => ({
    names,
    action: "SCMP_ACT_ERRNO",
    errnoRet,
    args,
  });
  const is = (index: number, value: number) => ({ index, value, op: "SCMP_CMP_EQ" });
  const { EPERM, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT } = errors;
  return {
    defaultAction: "SCMP_ACT_ALLOW",
    syscalls: [
      refuse(refusedCalls, EPERM),
      refuse(["clone3"], ENOSYS),
      refuse(["fallocate"], EOPNOTSUPP),
      ...Object.values(reservations).map((request) => refuse(["ioctl"], EOPNOTSUPP, [is(1, request)])),
      ...bitsOf(newNamespaces).map((bit) =>
        refuse(["clone"], EPERM, [{ index: 0, value: bit, valueTwo: bit, op: "SCMP_CMP_MASKED_EQ" }]),
      ),
      ...Object.values(terminalInput).map((request) => refuse(["ioctl"], EPERM, [is(1, request)])),
      ...otherFamilies().map((family) => refuse(["socket"], EAFNOSUPPORT, [is(0, family)])),
    ],
  };
}

/** A rule names one value: there are so many families today, and some room for new ones. */
const families = 64;

function otherFamilies(): number[] {
  const allowed: readonly number[] = Object.values(socketFamilies);
  return Array.from({ length: families }, (_, family) => family).filter((family) => !allowed.includes(family));
}

function bitsOf(mask: number): number[] {
  return Array.from({ length: 32 }, (_, bit) => 2 ** bit).filter((bit) => (mask & bit) !== 0);
}
