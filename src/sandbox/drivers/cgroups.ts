import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findHierarchies, type Hierarchy } from "./cgroups-hierarchies.ts";
import type { SandboxLimits } from "../sandbox.ts";

/** Limits for all processes of a command together, by the kernel's control groups. */
export type Groups = {
  /** False: only time bounds what a command takes of the processors. */
  readonly limitsCpu: boolean;
  /** An empty group with these limits: a new one, or one that was given back. */
  take(limits: SandboxLimits): Promise<Group>;
  /** When all commands have ended. */
  close(): Promise<void>;
};

/** That of one command. */
export type Group = {
  /** A process that writes 0 into each is in the group, with all that it starts. */
  readonly entries: readonly string[];
  /** Whether the kernel killed something in it for want of memory since it was taken. */
  ranOutOfMemory(): Promise<boolean>;
  /** When its last process has ended. */
  giveBack(): void;
};

/** Making and removing one costs the kernel more than a short command. */
const maxIdle = 8;
const removeWithinMs = 2000;

/** Undefined where this process may not make groups that count memory and processes. */
export async function openGroups(): Promise<Groups | undefined> {
  const hierarchies = await findHierarchies();
  if (hierarchies.length === 0) return undefined;
  const name = `colloquy-${process.pid}-${await startOf("self")}-${randomUUID().slice(0, 8)}`;
  const trees = hierarchies.map((hierarchy) => ({ hierarchy, home: join(hierarchy.base, name) }));
  for (const { hierarchy, home } of trees) {
    await removeThoseOfDeadServers(hierarchy.base);
    await mkdir(home);
    for (const [file, value] of hierarchy.ownSettings) await writeFile(join(home, file), value);
  }

  let count = 0;
  const idle: ControlGroup[] = [];
  const make = () => {
    count += 1;
    return makeMember(trees.map(({ hierarchy, home }) => ({ hierarchy, folder: join(home, String(count)) })));
  };
  const pending = new Set<Promise<unknown>>();
  const later = (work: Promise<unknown>) => {
    const tracked = work.finally(() => pending.delete(tracked));
    pending.add(tracked);
  };
  return {
    limitsCpu: hierarchies.some(({ controllers }) => controllers.includes("cpu")),
    async take(limits) {
      const member = idle.pop() ?? (await make());
      try {
        await member.limit(limits);
      } catch (error) {
        later(member.remove());
        throw error;
      }
      // For the next one the count begins anew.
      const keep = () => member.wasKilledIn().then(() => idle.push(member));
      return {
        entries: member.entries,
        ranOutOfMemory: member.wasKilledIn,
        giveBack: () => later(idle.length < maxIdle ? keep() : member.remove()),
      };
    },
    async close() {
      await Promise.all(pending);
      await Promise.all(idle.splice(0).map((member) => member.remove()));
      await Promise.all(trees.map(({ home }) => removeGroup(home)));
    },
  };
}

/** One group, in each tree. */
type ControlGroup = {
  readonly entries: readonly string[];
  limit(limits: SandboxLimits): Promise<void>;
  /** Whether the kernel did since it was asked last. */
  wasKilledIn(): Promise<boolean>;
  remove(): Promise<void>;
};

async function makeMember(parts: readonly { hierarchy: Hierarchy; folder: string }[]): Promise<ControlGroup> {
  const written = new Map<string, string>();
  let kills = 0;
  await Promise.all(
    parts.map(async ({ hierarchy, folder }) => {
      await mkdir(folder);
      for (const [file, value] of hierarchy.wishes) await writeFile(join(folder, file), value).catch(() => {});
    }),
  );
  const counters = parts.flatMap(({ hierarchy: { killsFile }, folder }) =>
    killsFile ? [join(folder, killsFile)] : [],
  );
  return {
    entries: parts.map(({ hierarchy, folder }) => join(folder, hierarchy.entry)),
    async limit(limits) {
      const settings = parts.flatMap(({ hierarchy, folder }) =>
        hierarchy.settings(limits).map(([file, value]) => [join(folder, file), value] as const),
      );
      const changed = settings.filter(([path, value]) => written.get(path) !== value);
      await Promise.all(changed.map(([path, value]) => writeFile(path, value)));
      for (const [path, value] of changed) written.set(path, value);
    },
    async wasKilledIn() {
      const texts = await Promise.all(counters.map((path) => readFile(path, "utf8").catch(() => "")));
      const before = kills;
      kills = texts.reduce((sum, text) => sum + Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0), 0);
      return kills > before;
    },
    remove: async () => void (await Promise.all(parts.map(({ folder }) => removeGroup(folder)))),
  };
}

/** It stays busy for a moment after its last process. What can't be removed in time is left to the next start. */
async function removeGroup(folder: string): Promise<void> {
  const latest = performance.now() + removeWithinMs;
  while (performance.now() < latest) {
    const isGone = await rmdir(folder).then(
      () => true,
      (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOENT",
    );
    if (isGone) return;
    await sleep(10);
  }
}

/** A killed server leaves its groups. Its commands died with it, but for what was just being started. */
async function removeThoseOfDeadServers(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const [, pid, start] = /^colloquy-(\d+)-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || (await startOf(pid)) === start) continue;
    const groups = await readdir(join(base, name), { withFileTypes: true }).catch(() => []);
    for (const group of groups.filter((each) => each.isDirectory())) await endGroup(join(base, name, group.name));
    await rmdir(join(base, name)).catch(() => {});
  }
}

async function endGroup(folder: string): Promise<void> {
  const pids = await readFile(join(folder, "cgroup.procs"), "utf8").catch(() => "");
  for (const pid of pids.split("\n").filter(Boolean)) process.kill(Number(pid), "SIGKILL");
  await removeGroup(folder);
}

/** When a process began, in ticks since the machine did: with its number, its name for ever. */
async function startOf(pid: string): Promise<string> {
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return status.slice(status.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}
