import { readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const memory = "/dev/shm";
const leastBytes = 3 * 1024 ** 3;

/**
 * Where databases of tests are: in memory if Linux has room for them there and lets programs run from it, since commits
 * then wait for no disk; else where all temporary files are.
 */
export function databaseFolder(): string {
  if (process.platform !== "linux" || process.env["TMPDIR"] !== undefined) return tmpdir();
  try {
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" "))
      .findLast(([, path]) => path === memory);
    const { bavail, bsize } = statfsSync(memory);
    const isFit = mount?.[2] === "tmpfs" && !mount[3]!.split(",").includes("noexec") && bavail * bsize >= leastBytes;
    return isFit ? memory : tmpdir();
  } catch {
    // There is no such folder.
    return tmpdir();
  }
}
