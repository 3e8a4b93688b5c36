import { readdir, readFile, readlink, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** A process and all below it that it started, and those that they left to it. What ends meanwhile is left out. */
export async function processTree(pid: number | undefined): Promise<number[]> {
  const found = pid === undefined ? [] : [pid];
  for (const one of found) found.push(...(await childrenOf(one)));
  return found;
}

/** All that can be seen from here in a process's namespace of processes: those of a container. */
export async function processesBeside(pid: number): Promise<number[]> {
  const namespaceOf = (each: string) => readlink(`/proc/${each}/ns/pid`).catch(() => undefined);
  const own = await namespaceOf(String(pid));
  if (own === undefined) return [];
  const all = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const namespaces = await Promise.all(all.map(namespaceOf));
  return all.filter((_, index) => namespaces[index] === own).map(Number);
}

/** Sums the memory of processes; shared memory is counted for each. */
async function memoryOf(pids: readonly number[]): Promise<number> {
  const pages = await Promise.all(
    pids.map(async (pid) => Number((await read(`/proc/${pid}/statm`)).split(" ")[1] ?? 0)),
  );
  return pages.reduce((sum, count) => sum + count, 0) * pageBytes;
}

/** Sums the disk space of deleted files that remain because these processes have them open. */
export async function namelessBytesOf(pids: readonly number[], device: number): Promise<number> {
  const files = new Map<number, number>();
  for (const pid of pids) {
    const folder = `/proc/${pid}/fd`;
    for (const descriptor of await readdir(folder).catch(() => [])) {
      const target = await readlink(`${folder}/${descriptor}`).catch(() => "");
      if (!target.endsWith(" (deleted)")) continue;
      const found = await stat(`${folder}/${descriptor}`).catch(() => undefined);
      if (found?.dev === device) files.set(found.ino, found.blocks * 512);
    }
  }
  return [...files.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** Where it differs, machines count in larger pages, so that a limit only comes later. */
const pageBytes = 4096;

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const texts = await Promise.all(threads.map((thread) => read(`/proc/${pid}/task/${thread}/children`)));
  return texts.flatMap((text) => text.split(" ").filter(Boolean).map(Number));
}

async function read(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}

type MemoryWatch = {
  readonly pid: () => number | undefined;
  readonly limitBytes: number;
  readonly signal: AbortSignal;
  readonly onFull: () => void;
};

const lookMs = 250;

/** Where the kernel does not count it: looks at all processes of a command, until the signal. */
export async function watchMemory({ pid, limitBytes, signal, onFull }: MemoryWatch): Promise<void> {
  while (!signal.aborted) {
    const root = pid();
    if (root !== undefined && (await memoryOf(await processTree(root))) > limitBytes) return onFull();
    await sleep(lookMs, undefined, { signal, ref: false }).catch(() => {});
  }
}
