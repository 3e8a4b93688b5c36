import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { UnreadableFile } from "./parsed.ts";

export type ChildLimits = {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
  readonly memoryBytes?: number | undefined;
  /** Maximum size of its answer. */
  readonly outputBytes: number;
};

/** Answer of a child, as a line of JSON on its standard output. */
export type ChildAnswer<Value> =
  | { readonly done: Value }
  | { readonly failed: { readonly code: UnreadableFile["code"]; readonly message: string } };

/** A process that reads what nobody has looked at; what takes too long or too much memory ends it. */
export type ParserProcess = {
  /**
   * One request at a time, as a line of JSON. Throws UnreadableFile, with a message for people; the signal's reason when that
   * fires.
   */
  ask<Value>(request: unknown, limits: ChildLimits): Promise<Value>;
  readonly isAlive: () => boolean;
  /** It keeps no process from ending, unless it is asked something. */
  end(): void;
};

const megabyte = 1024 * 1024;
const defaultTimeoutMs = 60_000;
const defaultMemoryBytes = 1024 * megabyte;
const watchMs = 100;
const maxErrorText = 2000;

/** The one script and request. */
export async function runChild<Value>(script: string, request: unknown, limits: ChildLimits): Promise<Value> {
  limits.signal.throwIfAborted();
  const child = startChild(script, limits.memoryBytes);
  try {
    return await child.ask<Value>(request, limits);
  } finally {
    child.end();
  }
}

export function startChild(script: string, memoryBytes = defaultMemoryBytes): ParserProcess {
  const heap = Math.round((memoryBytes / megabyte) * 0.75);
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${heap}`, "--disable-warning=ExperimentalWarning", script],
    { stdio: ["pipe", "pipe", "pipe"], env: {} },
  );
  let complaints = "";
  let pieces: Buffer[] = [];
  let size = 0;
  let most = 0;
  let asked: { resolve(line: string): void; reject(error: Error): void } | undefined;
  let isAlive = true;
  const settle = (): typeof asked => {
    const waiting = asked;
    asked = undefined;
    return waiting;
  };
  const kill = (error: Error) => {
    isAlive = false;
    child.kill("SIGKILL");
    settle()?.reject(error);
  };
  const tooMuch = () => kill(new UnreadableFile("too-much-memory", "Reading the file needs too much memory."));
  child.stdout.on("data", (piece: Buffer) => {
    size += piece.length;
    if (size > most) return tooMuch();
    pieces.push(piece);
    if (piece.at(-1) !== newline) return;
    const line = Buffer.concat(pieces).toString();
    pieces = [];
    settle()?.resolve(line);
  });
  child.stderr.on("data", (piece: Buffer) => {
    complaints = (complaints + piece.toString()).slice(0, maxErrorText);
  });
  child.stdin.on("error", () => {});
  child.once("error", (error) => kill(error));
  child.once("close", () => {
    // V8 ends the process itself at its limit.
    const outOfMemory = /heap out of memory|allocation failed/i.test(complaints);
    kill(
      outOfMemory
        ? new UnreadableFile("too-much-memory", "Reading the file needs too much memory.")
        : new UnreadableFile("broken", "The file made its reader fail."),
    );
  });
  const hold = (isHeld: boolean) => {
    for (const part of [child, child.stdin, child.stdout, child.stderr] as readonly Refable[])
      if (isHeld) part.ref?.();
      else part.unref?.();
  };

  return {
    isAlive: () => isAlive,
    end() {
      isAlive = false;
      child.kill("SIGKILL");
    },
    async ask<Value>(request: unknown, limits: ChildLimits): Promise<Value> {
      const { signal, timeoutMs = defaultTimeoutMs, outputBytes } = limits;
      signal.throwIfAborted();
      const stop = () => kill(signal.reason as Error);
      const timer = setTimeout(
        () => kill(new UnreadableFile("too-slow", `Reading the file took longer than ${timeoutMs / 1000} s.`)),
        timeoutMs,
      );
      const watch = setInterval(() => {
        void residentBytes(child.pid).then((bytes) => {
          if (asked && bytes > memoryBytes) tooMuch();
        });
      }, watchMs);
      signal.addEventListener("abort", stop, { once: true });
      hold(true);
      try {
        const line = await new Promise<string>((resolve, reject) => {
          size = 0;
          most = outputBytes;
          if (!isAlive) return reject(new UnreadableFile("broken", "The file's reader has ended."));
          asked = { resolve, reject };
          child.stdin.write(`${JSON.stringify(request)}\n`);
        });
        return valueIn<Value>(line);
      } finally {
        clearTimeout(timer);
        clearInterval(watch);
        signal.removeEventListener("abort", stop);
        hold(false);
      }
    },
  };
}

/** Streams of a child's pipes have these too, whatever their type says. */
type Refable = { ref?(): void; unref?(): void };

const newline = 0x0a;

function valueIn<Value>(line: string): Value {
  const answer = answerIn<Value>(line);
  if ("done" in answer) return answer.done;
  throw new UnreadableFile(answer.failed.code, answer.failed.message);
}

function answerIn<Value>(text: string): ChildAnswer<Value> {
  try {
    return JSON.parse(text) as ChildAnswer<Value>;
  } catch (cause) {
    throw new UnreadableFile("broken", "The file made its reader fail.", { cause });
  }
}

/** Where the system tells it; elsewhere the heap's own limit must do. */
async function residentBytes(pid: number | undefined): Promise<number> {
  const text = await readFile(`/proc/${pid}/statm`, "utf8").catch(() => "");
  return Number(text.split(" ")[1] ?? 0) * 4096;
}
