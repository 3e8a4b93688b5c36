import { readFileSync } from "node:fs";

/** CPU of a process, of all that it started and of all that has ended there; memory of the one process that a word of its command names. */
export type TreeUse = { readonly cpuMs: number; readonly peakBytes: number; readonly rssBytes: number };

/** Ticks of the kernel's clock are hundredths of a second on every Linux that Node.js runs on. */
const tickMs = 10;

export function useOfTree(root: number, word: string): TreeUse {
  let cpuMs = 0;
  let peakBytes = NaN;
  let rssBytes = NaN;
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    try {
      const stat = read(pid, "stat");
      // Behind the name, which may hold anything: user and system time, its own and of children that have ended.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      cpuMs += fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * tickMs, 0);
      if (
        read(pid, "cmdline")
          .split("\0")
          .some((argument) => argument.endsWith(word))
      ) {
        const status = read(pid, "status");
        peakBytes = kilobytes(status, "VmHWM") * 1024;
        rssBytes = kilobytes(status, "VmRSS") * 1024;
      }
      waiting.push(...childrenOf(pid));
    } catch (error) {
      // It ended meanwhile, and counts among its parent's.
      if (!(error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")))
        throw error;
    }
  }
  return { cpuMs, peakBytes, rssBytes };
}

function childrenOf(pid: number): number[] {
  return read(pid, `task/${pid}/children`).trim().split(" ").filter(Boolean).map(Number);
}

function kilobytes(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]);
}

function read(pid: number, file: string): string {
  return readFileSync(`/proc/${pid}/${file}`, "utf8");
}
