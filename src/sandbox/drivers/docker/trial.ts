import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { relayMounts, relayNode } from "../../process/relayed-command.ts";
import { type Sandbox, type SandboxReport, SandboxUnusable } from "../../sandbox.ts";
import { workspaceOwner } from "../../workspace/owner.ts";

/** Result of trying containers of this engine and image. */
export type ContainerTrial = Pick<SandboxReport, "grade" | "gaps" | "relay">;

const processes = 32;
const memoryBytes = 256 * 1024 ** 2;
const timeoutMs = 60_000;

/** The container itself is asked: engines leave out what their machine does not have. */
const script = `cat given; echo made > made
${relayNode} --version
sed 's/^/memory: /' /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes
sed 's/^/processes: /' /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max
cat /proc/self/status`;

/** Undefined: the user in the container is somebody else outside. Throws SandboxUnusable where nothing can be run. */
export async function tryContainer(
  { run, release }: Pick<Sandbox, "run" | "release">,
  signal: AbortSignal,
): Promise<ContainerTrial | undefined> {
  const workspace = await mkdtemp(join(tmpdir(), "colloquy-sandbox-"));
  try {
    await writeFile(join(workspace, "given"), "given\n", { mode: 0o644 });
    const limits = { memoryBytes, processes, timeoutMs };
    const { stdout, stderr, exitCode } = await run({
      argv: ["bash", "-c", script],
      workspace,
      limits,
      mounts: relayMounts,
      signal,
    });
    signal.throwIfAborted();
    if (exitCode === undefined) throw new SandboxUnusable(`a first command did not end: ${stderr.text.trim()}`);
    const made = await stat(join(workspace, "made")).catch(() => undefined);
    if (made?.uid !== (workspaceOwner?.uid ?? process.getuid?.())) return undefined;
    if (!stdout.text.startsWith("given\n")) throw new SandboxUnusable("containers do not see this machine's folders");
    const gaps = gapsIn(stdout.text);
    return { grade: gaps.length === 0 ? "strong" : "partial", gaps, relay: /^v\d+\./m.test(stdout.text) };
  } finally {
    await release(workspace);
    await rm(workspace, { recursive: true, force: true });
  }
}

function gapsIn(told: string): string[] {
  const value = (name: string) => new RegExp(`^${name}:\\s*(\\w+)`, "m").exec(told)?.[1];
  return [
    ...(value("memory") === String(memoryBytes) ? [] : ["memory has no limit"]),
    ...(Number(value("processes")) <= processes * 2 ? [] : ["the number of processes has no limit"]),
    ...(value("Seccomp") === "2" ? [] : ["no filter of system calls"]),
    ...(value("NoNewPrivs") === "1" ? [] : ["programs may gain rights"]),
  ];
}
