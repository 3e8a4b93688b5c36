import { randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Sandbox, type SandboxReport, SandboxUnusable } from "./sandbox.ts";

/** A whole trial; a daemon that makes a container first is slow. */
const trialMs = 30_000;

/** What escapes a kill would beat at least this often. */
const beatMs = 20;

/**
 * Tries what a sandbox promises: it must not read a file of this machine or the server's environment, and must leave no
 * process behind, else SandboxUnusable. A network that it reaches makes it `partial`. Gives the report as it was found.
 */
export async function selfTest(sandbox: Sandbox, signal: AbortSignal): Promise<SandboxReport> {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-trial-"));
  const connections = await listen();
  try {
    // Readable by anybody, so that nothing but the sandbox is in the way.
    await chmod(folder, 0o755);
    const [workspace, canary, secret] = [join(folder, "workspace"), join(folder, "canary"), randomUUID()];
    await mkdir(workspace);
    await writeFile(canary, secret, { mode: 0o644 });
    const output = await runTrial({ sandbox, workspace, script: script(canary, connections.port), signal });

    if (output.includes(secret)) throw new SandboxUnusable("a command could read a file of this machine");
    const environment = await readFile("/proc/self/environ", "utf8").catch(() => "");
    if (environment !== "" && output.includes(environment)) {
      throw new SandboxUnusable("a command could read the server's environment");
    }
    if (await stillBeats(join(workspace, "beat"))) {
      throw new SandboxUnusable("a process outlived the end of its command");
    }
    const { report } = sandbox;
    if (connections.count() === 0) return report;
    const gap = "commands reach the network of this machine";
    return {
      ...report,
      grade: report.grade === "strong" ? "partial" : report.grade,
      gaps: report.gaps.includes(gap) ? report.gaps : [...report.gaps, gap],
    };
  } finally {
    connections.close();
    await sandbox.release(join(folder, "workspace"));
    await rm(folder, { recursive: true, force: true });
  }
}

const ready = "colloquy-trial-ready";

function script(canary: string, port: number): string {
  return `cat '${canary}' 2>/dev/null
cat /proc/[0-9]*/environ 2>/dev/null
(echo hello > /dev/tcp/127.0.0.1/${port}) 2>/dev/null
setsid sh -c 'while :; do echo >> beat; sleep 0.0${beatMs}; done' >/dev/null 2>&1 &
sleep 0.0${beatMs}
echo ${ready}
sleep 60`;
}

type SelfTest = {
  readonly sandbox: Sandbox;
  readonly workspace: string;
  readonly script: string;
  readonly signal: AbortSignal;
};

/** Kills the script when it has done all it does, and gives what it wrote. */
async function runTrial({ sandbox, workspace, script, signal }: SelfTest): Promise<string> {
  const done = new AbortController();
  let output = "";
  const result = await sandbox.run({
    argv: ["bash", "-c", script],
    workspace,
    limits: { timeoutMs: trialMs },
    signal: AbortSignal.any([signal, done.signal]),
    onOutput: (text) => {
      output += text;
      if (output.includes(ready)) done.abort();
    },
  });
  signal.throwIfAborted();
  if (result.end === "aborted") return output;
  throw new SandboxUnusable(`a command ended with ${result.exitCode ?? result.end}: ${result.stderr.text.trim()}`);
}

async function stillBeats(path: string): Promise<boolean> {
  const size = async () => (await stat(path).catch(() => undefined))?.size ?? 0;
  const before = await size();
  if (before === 0) return false;
  await sleep(3 * beatMs);
  return (await size()) > before;
}

/** A server on this machine that nobody may reach. */
async function listen() {
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "127.0.0.1", exclusive: true }, resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return { port, count: () => count, close: () => server.close() };
}
