import { lstatSync, readlinkSync } from "node:fs";
import { type Mount, type SandboxCommand, type SandboxLimits, workspaceTarget } from "../sandbox.ts";
import { visibleSettings } from "../process/system-view.ts";
import { sandboxUser } from "../workspace/owner.ts";

/** Layout of a sandbox on this machine, determined once. */
export type Layout = {
  /** Root makes the mounts and then becomes the sandbox's user; anybody else needs a user namespace for them. */
  readonly isRoot: boolean;
  /** Folders of this machine inside what is shown (`/usr`) that no command may see. */
  readonly hidden: readonly string[];
  /** Without groups of the kernel's, each process alone is limited. */
  readonly hasGroups: boolean;
};

/** Descriptors of bubblewrap's own pipes. */
export const descriptors = { filter: 3, information: 4, gate: 5, options: 6, passwd: 7, group: 8, hosts: 9 } as const;

/** Files of its own: written in, since a mount would tell where this server lies. */
export const settingsGiven = ["passwd", "group", "hosts"] as const;

const temporaryBytes = 256 * 1024 ** 2;
const sharedMemoryBytes = 64 * 1024 ** 2;
const openFiles = 1024;

type SandboxLayout = { readonly layout: Layout; readonly filter: boolean };

/**
 * What bubblewrap is told by a pipe: its own line of arguments can be read in the sandbox, and paths of this machine are
 * nobody's business there.
 */
export function bubblewrapOptions(
  command: Pick<SandboxCommand, "workspace" | "mounts">,
  { layout: { isRoot, hidden }, filter }: SandboxLayout,
): string {
  const options = [
    ...(isRoot ? [] : ["--unshare-user", "--disable-userns", "--uid", sandboxUser.id, "--gid", sandboxUser.id]),
    ...["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--die-with-parent", "--new-session", "--hostname", "sandbox"],
    ...systemFolders(),
    ...foldersTo([...visibleSettings, ...(command.mounts ?? []).map(({ target }) => target)]),
    ...visibleSettings.flatMap((path) => ["--ro-bind-try", path, path]),
    ...settingsGiven.flatMap((name) => [
      ...["--perms", "0644", "--ro-bind-data", String(descriptors[name]), `/etc/${name}`],
    ]),
    ...hidden.flatMap((folder) => ["--tmpfs", folder]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...temporary("/dev/shm", sharedMemoryBytes),
    ...temporary("/tmp", temporaryBytes),
    ...["--dir", "/run"],
    ...["--bind", command.workspace, workspaceTarget],
    ...(command.mounts ?? []).flatMap(mount),
    // They are file systems in memory without a size of their own.
    ...["/dev", "/", ...hidden].flatMap((path) => ["--remount-ro", path]),
    ...["--info-fd", String(descriptors.information)],
    ...(filter ? ["--seccomp", String(descriptors.filter)] : []),
    ...["--cap-drop", "ALL", ...(isRoot ? rightsToBecomeSomebodyElse : [])],
  ];
  return options.map((option) => `${option}\0`).join("");
}

export function bubblewrapArguments(
  { argv }: Pick<SandboxCommand, "argv">,
  limits: SandboxLimits,
  { isRoot, hasGroups }: Layout,
): string[] {
  return [
    ...["--args", String(descriptors.options), "--", ...(isRoot ? becomeSandboxUser : [])],
    ...["/bin/sh", "-c", limitScript, "sh", ...limitsOf(limits, hasGroups), ...argv],
  ];
}

/** Those that bubblewrap would make by itself on the way to a mount, nobody but root could enter. */
function foldersTo(targets: readonly string[]): string[] {
  const folders = targets.flatMap((target) => {
    const names = target.split("/").slice(1, -1);
    return names.map((_, index) => `/${names.slice(0, index + 1).join("/")}`);
  });
  return [...new Set(folders)].flatMap((folder) => ["--dir", folder]);
}

const rightsToBecomeSomebodyElse = ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"].flatMap((right) => ["--cap-add", right]);

const becomeSandboxUser = [
  "setpriv",
  ...[`--reuid=${sandboxUser.id}`, `--regid=${sandboxUser.id}`, "--clear-groups"],
  ...["--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", "--"],
];

/**
 * Waits at the gate, in the end its own, as the sandbox's user, who alone may enter the workspace. Then limits: blocks of
 * 512 bytes, KiB of data, processes; what is empty stays as it is. Shells disagree about the letter for processes.
 */
const limitScript = [
  `echo ready >&${descriptors.gate}; read -r go <&${descriptors.gate} && exec ${descriptors.gate}<&- || exit 125`,
  `ulimit -c 0; ulimit -n ${openFiles}; ulimit -f "$1"`,
  'if [ -n "$2" ]; then ulimit -d "$2"; ulimit -u "$3" 2>/dev/null || ulimit -p "$3"; fi',
  `cd ${workspaceTarget} && shift 3 && exec "$@"`,
].join("; ");

const enterScript = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"';

/** Wraps a program so that it runs in the command's control groups, with none of this server's inherited descriptors open. */
export function prepared(
  argv: readonly [string, ...string[]],
  { entries, inherited }: { readonly entries: readonly string[]; readonly inherited: readonly number[] },
): readonly [string, ...string[]] {
  const inGroups =
    entries.length === 0 ? argv : (["/bin/sh", "-c", enterScript, "sh", ...entries, "--", ...argv] as const);
  if (inherited.length === 0) return inGroups;
  // Only bash, among the usual shells, handles descriptors above 9.
  const close = inherited.map((descriptor) => `exec ${descriptor}<&-; `).join("");
  return ["/bin/bash", "-c", `${close}exec "$@"`, "bash", ...inGroups];
}

function limitsOf({ fileBytes, memoryBytes, processes }: SandboxLimits, hasGroups: boolean): string[] {
  const blocks = String(Math.floor(fileBytes / 512));
  return hasGroups ? [blocks, "", ""] : [blocks, String(Math.ceil(memoryBytes / 1024)), String(processes)];
}

/** /usr, and what stands beside it: links into it, or folders of their own on older systems. */
function systemFolders(): string[] {
  const beside = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].flatMap((path) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) return ["--symlink", readlinkSync(path), path];
    return found?.isDirectory() ? ["--ro-bind", path, path] : [];
  });
  return ["--ro-bind", "/usr", "/usr", ...beside];
}

/** Folders on the way to it that bubblewrap makes by itself in a temporary one could be entered by root only. */
function mount({ source, target }: Mount): string[] {
  const names = target.split("/").slice(1, -1);
  const parents = names.map((_, index) => `/${names.slice(0, index + 1).join("/")}`);
  return [...parents.flatMap((path) => ["--perms", "0755", "--dir", path]), "--ro-bind", source, target];
}

function temporary(path: string, bytes: number): string[] {
  return ["--perms", "1777", "--size", String(bytes), "--tmpfs", path];
}
