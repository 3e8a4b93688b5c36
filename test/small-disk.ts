import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export type SmallDisk = {
  /** Where a program sees it that is started by `within`, and where others do. */
  readonly path: string;
  readonly outside: string;
  /** What stands before the command of a program that is to see it. */
  readonly within: readonly string[];
  close(): Promise<void>;
};

const path = "/mnt";
const mount = 'mount -t tmpfs -o size="$1" tmpfs "$2" && echo ready && read -r _';
/** As root; else as root of a namespace of one's own, where that is allowed. */
const ways = [
  { unshare: ["--mount"], nsenter: ["--mount"] },
  { unshare: ["--mount", "--user", "--map-root-user"], nsenter: ["--mount", "--user", "--preserve-credentials"] },
];

/**
 * A file system of so many megabytes. It is mounted in a namespace of its own, so that it goes with the process that holds it. Undefined with a reason: this machine does not let us.
 */
export async function makeSmallDisk(megabytes: number): Promise<SmallDisk | { readonly reason: string }> {
  const reasons: string[] = [];
  for (const { unshare, nsenter } of ways) {
    const holder = spawn("unshare", [...unshare, "sh", "-c", mount, "sh", `${megabytes}m`, path], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    const refused = await refusal(holder);
    if (refused === undefined)
      return {
        path,
        outside: `/proc/${holder.pid}/root${path}`,
        within: ["nsenter", "--target", String(holder.pid), ...nsenter, "--"],
        async close() {
          const gone = once(holder, "exit");
          holder.stdin.end();
          await gone;
        },
      };
    reasons.push(refused);
  }
  return { reason: `a file system can't be mounted here: ${reasons.join("; ")}` };
}

async function refusal(holder: ChildProcess): Promise<string | undefined> {
  let errors = "";
  holder.stderr!.on("data", (data: Buffer) => (errors += data.toString()));
  holder.on("error", (error) => (errors += error.message));
  for await (const line of createInterface(holder.stdout!)) if (line === "ready") return undefined;
  return errors.trim();
}
