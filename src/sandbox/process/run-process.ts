import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { openOutputPipes, type OutputName, type OutputPipes } from "./output-pipes.ts";
import { createCapture } from "./captured-output.ts";
import { SandboxFailed, type SandboxCommand, type SandboxLimits, type SandboxResult } from "../sandbox.ts";

/** Why a command was killed. */
export type KillReason = Exclude<SandboxResult["end"], "exited">;

export type Program = {
  readonly file: string;
  readonly args: readonly string[];
  /** All of it: nothing of the server's is added. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly owner?: { readonly uid: number; readonly gid: number };
  /** How many pipes it gets beside the usual three, as descriptors 3, 4, … */
  readonly morePipes?: number;
  /** Called once it runs. `stop` kills it for that reason; what is returned is called when it has ended. */
  readonly started?: (child: ChildProcess, stop: (reason: KillReason) => void) => () => void;
  /** Kills the whole tree; absent: the process group. */
  readonly kill?: (child: ChildProcess) => void;
  /** Resolves when nothing of the tree is left; called after the process itself has ended. */
  readonly gone?: () => Promise<void>;
};

export type BoundedCommand = Pick<SandboxCommand, "stdin" | "signal" | "onOutput"> & {
  readonly limits: Pick<SandboxLimits, "timeoutMs" | "outputBytes">;
};

/** How long output may still come when all processes have ended: beyond that, somebody outside holds the pipe. */
const lastOutputMs = 1000;

/**
 * Runs a program of this machine in a process group of its own, within time and output; of its output only beginning and
 * end are kept. Resolves when its tree is gone. Throws SandboxFailed when it can't be started.
 */
export async function runProcess(program: Program, command: BoundedCommand): Promise<SandboxResult> {
  const { signal, limits, onOutput } = command;
  const began = performance.now();
  const captures = { stdout: createCapture(), stderr: createCapture() };
  const resultOf = (end: SandboxResult["end"], exitCode?: number): SandboxResult => ({
    end,
    exitCode,
    stdout: captures.stdout.finish(),
    stderr: captures.stderr.finish(),
    durationMs: Math.round(performance.now() - began),
  });
  if (signal.aborted) return resultOf("aborted");

  const decoders = onOutput && { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const onChunk = (chunk: Buffer, name: OutputName) => {
    captures[name].push(chunk);
    if (decoders) onOutput(decoders[name].decode(chunk, { stream: true }), name);
    if (captures.stdout.bytes() + captures.stderr.bytes() > limits.outputBytes) stop("too-much-output");
  };
  const pipes = await openOutputPipes(onChunk);
  const child = await start(program, { hasStdin: command.stdin !== undefined, pipes });
  let reason: KillReason | undefined;
  const stop = (why: KillReason) => {
    reason ??= why;
    (program.kill ?? killGroup)(child);
  };
  const onAbort = () => stop("aborted");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const timer = setTimeout(() => stop("timed-out"), limits.timeoutMs);
  const exited = exitCodeOf(child);
  const read = (["stdout", "stderr"] as const).map((name) => {
    if (!pipes) child[name]?.on("data", (chunk: Buffer) => onChunk(chunk, name));
    return closed((pipes ?? child)[name]);
  });
  const watched = program.started?.(child, stop);
  writeStdin(child, command.stdin);
  try {
    const exitCode = await exited;
    await program.gone?.();
    await Promise.race([Promise.all(read), sleep(lastOutputMs, undefined, { ref: false })]);
    return reason === undefined ? resultOf("exited", exitCode) : resultOf(reason);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    watched?.();
    for (const stream of child.stdio) stream?.destroy();
    pipes?.release();
  }
}

/** Kills what is still in its process group; the group stays while anything of it lives. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ESRCH";
}

let lastTurn: Promise<unknown> = Promise.resolve();

/** To start a process stops this one for some milliseconds: between two of many, others get their turn. */
function ownTurn(): Promise<unknown> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

type ProcessOptions = { readonly hasStdin: boolean; readonly pipes: OutputPipes | undefined };

async function start(program: Program, { hasStdin, pipes }: ProcessOptions): Promise<ChildProcess> {
  await ownTurn();
  const [stdout, stderr] = pipes?.writeEnds ?? (["pipe", "pipe"] as const);
  const child = spawn(program.file, program.args, {
    env: program.env,
    cwd: program.cwd,
    ...program.owner,
    detached: true,
    stdio: [hasStdin ? "pipe" : "ignore", stdout, stderr, ...Array<"pipe">(program.morePipes ?? 0).fill("pipe")],
  });
  pipes?.started();
  // A process that ends without reading what it is sent is no fault.
  for (const stream of child.stdio) stream?.on("error", () => {});
  if (child.pid !== undefined) return child;
  const [error] = await once(child, "error").catch((failed: unknown) => [failed]);
  pipes?.release();
  throw new SandboxFailed(`${program.file} could not be started: ${String(error)}`, { cause: error });
}

/** As a shell tells it: 128 and the number of the signal that ended it. */
function exitCodeOf(child: ChildProcess): Promise<number | undefined> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) =>
      resolve(code ?? (signal === null ? undefined : 128 + constants.signals[signal])),
    );
  });
}

function closed(stream: Readable | null): Promise<void> {
  return new Promise((resolve) => {
    if (stream) stream.once("close", resolve);
    else resolve();
  });
}

function writeStdin(child: ChildProcess, text: string | Uint8Array | undefined): void {
  if (text !== undefined) child.stdin?.end(text);
}
