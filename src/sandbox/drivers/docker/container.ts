import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { createCapture } from "../../process/captured-output.ts";
import { type ContainerKind, containerArguments } from "./arguments.ts";
import { askEngine, type ContainerEngine } from "./engine.ts";
import { processesBeside } from "../../process/process-tree.ts";
import { SandboxFailed } from "../../sandbox.ts";

/** A running container. It ends with this server, whatever ends that: its first process waits at our pipe. */
export type Container = {
  readonly name: string;
  readonly isAlive: () => boolean;
  /** Its processes as numbers of this machine's, where they are this machine's and can be seen. */
  readonly processes: () => Promise<readonly number[]>;
  /** Ends all processes but the first; gives how many were ever killed for want of memory. Throws SandboxFailed. */
  readonly endProcesses: () => Promise<number>;
  /** Resolves when nothing runs in it. */
  readonly close: () => Promise<void>;
};

const startsWithinMs = 60_000;
const endsWithinMs = 10_000;

/** Throws SandboxFailed with what the engine says, or the signal's reason. */
export async function startContainer(
  engine: ContainerEngine,
  kind: ContainerKind,
  signal: AbortSignal,
): Promise<Container> {
  signal.throwIfAborted();
  const name = `colloquy-${randomUUID()}`;
  // In a group of its own: an interrupt at the terminal is for us alone.
  const options = { env: engine.environment, stdio: "pipe", detached: true } as const;
  const child = spawn(engine.name, containerArguments(name, kind), options);
  const told = createCapture();
  child.stderr.on("data", (chunk: Buffer) => told.push(chunk));
  const keeper = createKeeper(child);
  const isAlive = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve()).once("error", () => resolve());
  });

  const close = async () => {
    child.stdin.end();
    await Promise.race([ended, sleep(endsWithinMs, undefined, { ref: false })]);
    if (!isAlive()) return;
    for (const words of [["kill"], ["rm", "--force"]]) await askEngine(engine, [...words, name]).catch(() => {});
    child.kill("SIGKILL");
  };
  const answer = async (withinMs: number, waiting?: AbortSignal) => {
    const late = sleep(withinMs, undefined, { ref: false, signal: waiting });
    const killed = await Promise.race([keeper.endProcesses(), ended, late]);
    if (killed !== undefined) return killed;
    throw new SandboxFailed(`a container ended or hangs. ${engine.name} says: ${told.finish().text.trim()}`);
  };

  try {
    await answer(startsWithinMs, signal);
  } catch (error) {
    void close();
    signal.throwIfAborted();
    throw error;
  }
  const processes = async () => {
    const first = await askEngine(engine, ["inspect", "--format", "{{.State.Pid}}", name]).catch(() => "");
    return first === "" ? [] : processesBeside(Number(first));
  };
  return { name, isAlive, processes, close, endProcesses: () => answer(endsWithinMs) };
}

/** Speaks with `keeper.sh`. */
function createKeeper(child: ChildProcessWithoutNullStreams) {
  const asked = new Map<string, (killed: number) => void>();
  let words = 0;
  // Who has ended does not read any more; that is heard of by its end.
  child.stdin.on("error", () => {});
  createInterface({ input: child.stdout }).on("line", (line) => {
    const [word = "", killed] = line.split(" ");
    asked.get(word)?.(Number(killed));
    asked.delete(word);
  });
  return {
    endProcesses(): Promise<number> {
      const word = String(++words);
      child.stdin.write(`${word}\n`);
      return new Promise((resolve) => void asked.set(word, resolve));
    },
  };
}
