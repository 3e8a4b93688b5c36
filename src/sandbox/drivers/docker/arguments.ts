import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Mount, type SandboxCommand, type SandboxLimits, workspaceTarget } from "../../sandbox.ts";

/** Properties of a container; commands of the same kind may run in it. */
export type ContainerKind = {
  readonly image: string;
  /** A file with the filter of system calls. */
  readonly filter: string;
  readonly workspace: string;
  readonly limits: Pick<SandboxLimits, "memoryBytes" | "processes" | "cpus">;
  readonly mounts: readonly Mount[];
};

/** `uid:gid` in the container of who commands are. */
export type ContainerUser = `${number}:${number}`;

const temporaryBytes = 64 * 1024 ** 2;
const sharedMemoryBytes = 64 * 1024 ** 2;
const openFiles = 1024;
/** Process limit of the user on this machine, over all containers; the container's own limit is the effective one. Some engines would ask for more than is allowed. */
const maxProcesses = 4096;
/** The first process, and what comes and goes with a command. */
const ownProcesses = 4;

const keeperScript = readFileSync(join(import.meta.dirname, "keeper.sh"), "utf8");

/**
 * A container that holds nothing but its first process, which is root only so that no command can touch it: of all of
 * root's rights it has the one to kill. It lasts as long as its standard input.
 */
export function containerArguments(
  name: string,
  { image, filter, workspace, limits, mounts }: ContainerKind,
): string[] {
  const bind = (mount: Mount, ...more: string[]) => [
    "--mount",
    ["type=bind", `source=${mount.source}`, `target=${mount.target}`, ...more].map(quoted).join(","),
  ];
  return [
    ...["run", "--rm", "--interactive", "--pull", "never", "--name", name, "--label", `${ownLabel}=1`],
    ...["--network", "none", "--hostname", "sandbox", "--log-driver", "none"],
    ...["--read-only", "--cap-drop", "ALL", "--cap-add", "KILL", "--security-opt", "no-new-privileges"],
    ...["--security-opt", `seccomp=${filter}`],
    ...["--memory", String(limits.memoryBytes), "--memory-swap", String(limits.memoryBytes)],
    ...["--pids-limit", String(limits.processes + ownProcesses), "--cpus", String(limits.cpus)],
    ...["--ulimit", `nofile=${openFiles}:${openFiles}`, "--ulimit", `nproc=${maxProcesses}:${maxProcesses}`],
    ...["--shm-size", String(sharedMemoryBytes)],
    ...["--tmpfs", `/tmp:rw,nosuid,nodev,exec,mode=1777,size=${temporaryBytes}`],
    ...bind({ source: workspace, target: workspaceTarget }),
    ...mounts.flatMap((mount) => bind(mount, "readonly")),
    ...["--user", "0:0", "--entrypoint", "bash", image, "-c", keeperScript],
  ];
}

/** Label that identifies what a server left behind. */
export const ownLabel = "colloquy.sandbox";

/**
 * Nothing that an engine sets by itself; limits of each process; then the command. What it leaves running dies before the shell ends: who holds its output open
 * would hold up the engine. What the shell itself says of a killed command is nobody's business.
 */
const commandScript = `unset container TERM
ulimit -c 0 -n ${openFiles} -f "$1"; shift
{ "$@" 2>&3 3>&-; } 3>&2 2>/dev/null; code=$?; kill -9 -1 2>/dev/null; exit $code`;

/** The engine's arguments, and what it needs in its own environment for them. */
export function execArguments(
  name: string,
  { argv, env = {}, stdin }: Pick<SandboxCommand, "argv" | "env" | "stdin">,
  { user, fileBytes }: { readonly user: ContainerUser; readonly fileBytes: number },
): { readonly args: string[]; readonly env: Readonly<Record<string, string>> } {
  const variables = Object.entries({ HOME: workspaceTarget, LANG: "C.UTF-8", ...env });
  const args = [
    ...["exec", "--user", user, "--workdir", workspaceTarget],
    ...(stdin === undefined ? [] : ["--interactive"]),
    ...variables.flatMap(([key, value]) => ["--env", mayBeSecret.test(key) ? key : `${key}=${value}`]),
    ...[name, "bash", "-c", commandScript, "bash", String(Math.floor(fileBytes / 1024)), ...argv],
  ];
  return { args, env: Object.fromEntries(variables.filter(([key]) => mayBeSecret.test(key))) };
}

/** Arguments are seen by everybody on this machine, an environment is not. */
const mayBeSecret = /KEY|TOKEN|SECRET|PASSWORD/i;

/** As a field of comma-separated values, which is how engines read a mount. */
function quoted(field: string): string {
  return /[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
