import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { SandboxFailed } from "../sandbox.ts";

/** How long the kernel may need to end a namespace full of processes. */
const endsWithinMs = 10_000;

export type FirstProcess = {
  /** Lets the command begin once all dies with the process that was started. */
  begin(child: ChildProcess): void;
  /** Kills all, also what has not begun. */
  kill(child: ChildProcess): void;
  hasBegun(): boolean;
  pid(): number | undefined;
  /** Resolves when it has no children, or is gone: then none of the others is left. */
  end(): Promise<void>;
};

/**
 * Follows the first process of one command's namespace of processes, which all others of it live in. Bubblewrap tells its
 * number by one pipe. At the other, when everything is made, the command says that it is ready, and waits; the end of this
 * server would be the end of the wait, and of the command.
 */
export function createFirstProcess(pipes: { readonly information: number; readonly gate: number }): FirstProcess {
  let pid: number | undefined;
  let hasBegun = false;
  return {
    begin(child) {
      const gate = pipeOf(child, pipes.gate);
      gate.once("data", () => {
        hasBegun = true;
        gate.end("go\n");
      });
      let told = "";
      pipeOf(child, pipes.information).on("data", (chunk: Buffer) => {
        told += chunk.toString("latin1");
        const number = /"child-pid":\s*(\d+)/.exec(told)?.[1];
        if (number !== undefined) pid = Number(number);
      });
    },
    kill(child) {
      child.kill("SIGKILL");
      pipeOf(child, pipes.gate).destroy();
    },
    hasBegun: () => hasBegun,
    pid: () => pid,
    async end() {
      const latest = performance.now() + endsWithinMs;
      while (pid !== undefined && hasChildren(pid)) {
        if (performance.now() > latest) throw new SandboxFailed("processes of a command could not be ended");
        await sleep(2);
      }
    },
  };
}

export function pipeOf(child: ChildProcess, descriptor: number): Duplex {
  const pipe = child.stdio.at(descriptor);
  if (!(pipe instanceof Duplex)) throw new SandboxFailed(`pipe ${descriptor} is missing`);
  return pipe;
}

/** Whether the first process has children; orphans become its children. A synchronous read is faster than an asynchronous one. */
function hasChildren(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1") !== "";
  } catch {
    return isAlive(pid);
  }
}

/** Fallback for kernels that don't list children. A zombie remains until all others are gone. */
function isAlive(pid: number): boolean {
  try {
    return /^\d+ \(.*\) [^ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}
