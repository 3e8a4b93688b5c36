import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { UnreadableFile } from "./parsed.ts";

export type ChildLimits = {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
  readonly memoryBytes?: number | undefined;
  /** Of its answer. */
  readonly outputBytes: number;
};

/** What a child answers: one of these as JSON on its standard output. */
export type ChildAnswer<Value> =
  | { readonly done: Value }
  | { readonly failed: { readonly code: UnreadableFile["code"]; readonly message: string } };

const megabyte = 1024 * 1024;
const defaultTimeoutMs = 60_000;
const defaultMemoryBytes = 1024 * megabyte;
const watchMs = 100;
const mostErrorText = 2000;

/**
 * Asks a script of ours that reads what nobody has looked at, in a process of its own that is killed when it takes too long or
 * too much memory. Throws UnreadableFile, with a message for people; the signal's reason when that fires.
 */
export async function runChild<Value>(script: string, request: unknown, limits: ChildLimits): Promise<Value> {
  const { signal, timeoutMs = defaultTimeoutMs, memoryBytes = defaultMemoryBytes, outputBytes } = limits;
  signal.throwIfAborted();
  const heap = Math.round((memoryBytes / megabyte) * 0.75);
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${heap}`, "--disable-warning=ExperimentalWarning", script],
    { stdio: ["pipe", "pipe", "pipe"], env: {} },
  );
  const text = await new Promise<string>((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    let complaints = "";
    let why: Error | undefined;
    const kill = (error: Error) => {
      why ??= error;
      child.kill("SIGKILL");
    };
    const stop = () => kill(signal.reason as Error);
    const timer = setTimeout(
      () => kill(new UnreadableFile("too-slow", `Reading the file took longer than ${timeoutMs / 1000} s.`)),
      timeoutMs,
    );
    const tooMuch = () => kill(new UnreadableFile("too-much-memory", "Reading the file needs too much memory."));
    const watch = setInterval(() => {
      void residentBytes(child.pid).then((bytes) => {
        if (bytes > memoryBytes) tooMuch();
      });
    }, watchMs);
    signal.addEventListener("abort", stop, { once: true });
    child.stdout.on("data", (piece: Buffer) => {
      size += piece.length;
      if (size > outputBytes) tooMuch();
      else pieces.push(piece);
    });
    child.stderr.on("data", (piece: Buffer) => {
      complaints = (complaints + piece.toString()).slice(0, mostErrorText);
    });
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(timer);
      clearInterval(watch);
      signal.removeEventListener("abort", stop);
      if (why) return reject(why);
      if (code !== 0) {
        // V8 ends the process itself at its limit.
        const outOfMemory = /heap out of memory|allocation failed/i.test(complaints);
        return reject(
          outOfMemory
            ? new UnreadableFile("too-much-memory", "Reading the file needs too much memory.")
            : new UnreadableFile("broken", "The file made its reader fail."),
        );
      }
      resolve(Buffer.concat(pieces).toString());
    });
    child.stdin.on("error", () => {}).end(JSON.stringify(request));
  });
  const answer = answerIn<Value>(text);
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
