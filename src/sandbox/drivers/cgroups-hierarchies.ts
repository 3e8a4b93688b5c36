import { access, constants, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SandboxLimits } from "../sandbox.ts";

type GroupSetting = readonly [file: string, value: string];

/** One tree of control groups, and what is written where in it. */
export type Hierarchy = {
  /** The folder in which this server's group is made. */
  readonly base: string;
  readonly controllers: readonly string[];
  /** Who writes 0 into this file of a group is in it. */
  readonly entry: string;
  /** For the server's group, in which those of its commands are. */
  readonly ownSettings: readonly GroupSetting[];
  readonly settings: (limits: SandboxLimits) => readonly GroupSetting[];
  /** Files of a command's group that not every kernel has. */
  readonly wishes: readonly GroupSetting[];
  /** The file that counts `oom_kill <n>`. */
  readonly killsFile?: string;
};

const root = "/sys/fs/cgroup";
const cpuPeriodUs = 100_000;

/** Where this process may make groups that count at least memory and processes; empty: nowhere. */
export async function findHierarchies(): Promise<readonly Hierarchy[]> {
  const own = await readFile("/proc/self/cgroup", "utf8").catch(() => "");
  const paths = new Map(
    own.split("\n").flatMap((line): [string, string][] => {
      const [, names = "", path = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
      return names.split(",").map((name) => [name, path]);
    }),
  );
  const legacy = await findLegacy(paths);
  return legacy.length > 0 ? legacy : findUnified(paths.get("") ?? "/");
}

/** For a process of one thread: to move whole processes the kernel waits for all processors. */
const legacyEntry = "tasks";

/** Version 1: a tree for each controller. */
async function findLegacy(paths: ReadonlyMap<string, string>): Promise<readonly Hierarchy[]> {
  const baseOf = async (controller: string) => {
    const folder = join(root, controller);
    // In a container, what is mounted is often its own group already.
    const bases = [join(folder, paths.get(controller) ?? "/"), folder];
    const writable = await Promise.all(bases.map(isWritable));
    return bases.find((_, index) => writable[index]);
  };
  const [memory, processes, cpu] = await Promise.all(["memory", "pids", "cpu"].map(baseOf));
  if (memory === undefined || processes === undefined) return [];
  const cpuTree: Hierarchy[] =
    cpu === undefined
      ? []
      : [
          {
            base: cpu,
            controllers: ["cpu"],
            entry: legacyEntry,
            // All commands together give way to the server: of 1024, what a usual process has.
            ownSettings: [["cpu.shares", "256"]],
            settings: ({ cpus }) => [["cpu.cfs_quota_us", String(Math.round(cpus * cpuPeriodUs))]],
            wishes: [],
          },
        ];
  return [
    {
      base: memory,
      controllers: ["memory"],
      entry: legacyEntry,
      ownSettings: [],
      settings: ({ memoryBytes }) => [["memory.limit_in_bytes", String(memoryBytes)]],
      wishes: [["memory.swappiness", "0"]],
      killsFile: "memory.oom_control",
    },
    {
      base: processes,
      controllers: ["pids"],
      entry: legacyEntry,
      ownSettings: [],
      settings: ({ processes }) => [["pids.max", String(processes)]],
      wishes: [],
    },
    ...cpuTree,
  ];
}

/** Version 2: one tree; the nearest of our own group and those above it that may be divided. */
async function findUnified(path: string): Promise<readonly Hierarchy[]> {
  for (let at = path; ; at = dirname(at)) {
    const base = join(root, at);
    const controllers = (await isWritable(base)) ? await divide(base) : [];
    if (["memory", "pids"].every((name) => controllers.includes(name))) return [unified(base, controllers)];
    if (at === "/" || at === ".") return [];
  }
}

function unified(base: string, controllers: readonly string[]): Hierarchy {
  const hasCpu = controllers.includes("cpu");
  return {
    base,
    controllers,
    entry: "cgroup.procs",
    ownSettings: [
      ["cgroup.subtree_control", controllers.map((name) => `+${name}`).join(" ")],
      ...(hasCpu ? [["cpu.weight", "25"] as const] : []),
    ],
    settings: ({ memoryBytes, processes, cpus }) => [
      ["memory.max", String(memoryBytes)],
      ["pids.max", String(processes)],
      ...(hasCpu ? [["cpu.max", `${Math.round(cpus * cpuPeriodUs)} ${cpuPeriodUs}`] as const] : []),
    ],
    wishes: [
      ["memory.swap.max", "0"],
      ["memory.oom.group", "1"],
    ],
    killsFile: "memory.events",
  };
}

/** Which controllers groups in this one have, or can be given. */
async function divide(base: string): Promise<string[]> {
  const read = async (file: string) => (await readFile(join(base, file), "utf8").catch(() => "")).trim().split(" ");
  const file = "cgroup.subtree_control";
  const [offered, given] = [await read("cgroup.controllers"), await read(file)];
  for (const name of ["memory", "pids", "cpu"]) {
    if (!offered.includes(name) || given.includes(name)) continue;
    // Refused where processes are in the group itself.
    await writeFile(join(base, file), `+${name}`).catch(() => {});
  }
  return (await read(file)).filter((name) => ["memory", "pids", "cpu"].includes(name));
}

async function isWritable(folder: string): Promise<boolean> {
  const allowed = [folder, join(folder, "cgroup.procs")].map((path) => access(path, constants.W_OK));
  return Promise.all(allowed).then(
    () => true,
    () => false,
  );
}
