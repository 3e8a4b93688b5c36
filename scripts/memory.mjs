/** How much memory a start may take, before it is killed for it. Node built-ins only. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Measured peaks of all processes together, in MB, and a tenth more: the page's build takes the most. */
const firstStart = 800;
const laterStart = 550;

/** A line that says so where there is less memory than a start takes; undefined where there is enough, or nobody knows. */
export function tooLittleMemory({ isFirst, proc = "/proc", groups = "/sys/fs/cgroup" }) {
  const available = availableMemory(proc, groups);
  const needed = isFirst ? firstStart : laterStart;
  if (available === undefined || available >= needed) return undefined;
  const which = isFirst
    ? `Colloquy's first start needs about ${firstStart} MB of memory`
    : `Colloquy needs about ${laterStart} MB of memory`;
  const later = isFirst ? ` (later ones ${laterStart} MB)` : "";
  return `${which}${later}, and ${available} MB are available: it may be killed. Close other programs, or give the machine or container more`;
}

/** In MB: what the machine has left, or less where a control group (a container's, a service's) is bounded. */
function availableMemory(proc, groups) {
  const machine = read(join(proc, "meminfo"));
  if (machine === undefined) return undefined;
  const kilobytes = (name) => Number(new RegExp(`^${name}: +(\\d+) kB`, "m").exec(machine)?.[1] ?? 0);
  const left = [(kilobytes("MemAvailable") + kilobytes("SwapFree")) * 1024];
  for (const line of (read(join(proc, "self", "cgroup")) ?? "").trim().split("\n")) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === "") left.push(...leftInGroups(groups, path, version2));
    if (controllers?.split(",").includes("memory")) left.push(...leftInGroups(join(groups, "memory"), path, version1));
  }
  return Math.round(Math.min(...left) / 1024 / 1024);
}

const version2 = { limit: "memory.max", used: "memory.current", cache: "inactive_file" };
const version1 = { limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", cache: "total_inactive_file" };

/** A limit further up bounds too. In a container the group is often the mount itself, whatever its path outside. */
function leftInGroups(mount, path, { limit, used, cache }) {
  const start = existsSync(join(mount, path)) ? path : "/";
  const left = [];
  for (let at = start; ; at = dirname(at)) {
    const most = Number(read(join(mount, at, limit)) ?? NaN);
    // Files kept in memory are dropped first.
    const dropped = Number(
      new RegExp(`^${cache} (\\d+)`, "m").exec(read(join(mount, at, "memory.stat")) ?? "")?.[1] ?? 0,
    );
    if (!Number.isNaN(most)) left.push(most - Number(read(join(mount, at, used)) ?? 0) + dropped);
    if (at === dirname(at)) return left;
  }
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
