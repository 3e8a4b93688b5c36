import { execFile } from "node:child_process";
import { chmodSync, closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/**
 * The ways on which a command's output comes. Node's own are sockets, and no process can open a socket again by its name:
 * `echo … > /dev/stderr` and `-o /dev/stdout` would fail. These are pipes, as a shell makes them.
 */
export type OutputPipes = {
  readonly stdout: Socket;
  readonly stderr: Socket;
  /** For the child; closed by `started`, since output ends when nobody can write any more. */
  readonly writeEnds: readonly [stdout: number, stderr: number];
  readonly started: () => void;
  /** Ends the reading. */
  readonly release: () => void;
};

type PipePaths = readonly [stdout: string, stderr: string];

export type OutputName = "stdout" | "stderr";

/** As much as a pipe holds. */
const readBytes = 64 * 1024;

/** Those that nobody uses: to make some takes a process, which would be one more for each command. */
const idle: PipePaths[] = [];
const maxIdle = 64;
/** At a time, since many commands may begin at once. */
const madeTogether = 16;
const maxTries = 10;
let making: Promise<void> | undefined;
let folder: string | undefined;
let made = 0;

/**
 * Undefined where there are no named pipes. `onChunk` must copy what it keeps: the next is read into the same memory, so that
 * a gigabyte leaves nothing behind for the garbage collector.
 */
export async function openOutputPipes(
  onChunk: (chunk: Buffer, name: OutputName) => void,
): Promise<OutputPipes | undefined> {
  // Whoever waits may find that others took them all.
  for (let tries = 0; idle.length === 0 && tries < maxTries; tries++)
    await (making ??= makePairs().finally(() => (making = undefined)));
  const pair = idle.pop();
  if (!pair) return undefined;
  const opened: number[] = [];
  try {
    // The reader first, or opening the writer would wait for one.
    for (const path of pair) opened.push(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
    for (const path of pair) opened.push(openSync(path, constants.O_WRONLY));
  } catch {
    for (const handle of opened) closeSync(handle);
    return undefined;
  }
  const [readStdout, readStderr, writeStdout, writeStderr] = opened as [number, number, number, number];
  const socketOf = (fd: number, name: OutputName) => {
    const callback = (length: number, buffer: Uint8Array) => {
      onChunk(Buffer.from(buffer.buffer, buffer.byteOffset, length), name);
      return true;
    };
    const onread = { buffer: Buffer.allocUnsafeSlow(readBytes), callback };
    return new Socket({ fd, readable: true, writable: false, onread });
  };
  const sockets = [socketOf(readStdout, "stdout"), socketOf(readStderr, "stderr")];
  let ended = 0;
  for (const socket of sockets) socket.on("error", () => {}).once("end", () => ended++);
  return {
    stdout: sockets[0]!,
    stderr: sockets[1]!,
    writeEnds: [writeStdout, writeStderr],
    started() {
      closeSync(writeStdout);
      closeSync(writeStderr);
    },
    release() {
      for (const socket of sockets) socket.destroy();
      // Who still holds one could write into the next command's output.
      if (ended === sockets.length && idle.length < maxIdle) idle.push(pair);
      else for (const path of pair) rmSync(path, { force: true });
    },
  };
}

/** None where it can't be done. */
async function makePairs(): Promise<void> {
  if (folder === undefined) {
    const own = mkdtempSync(join(tmpdir(), "colloquy-pipes-"));
    folder = own;
    process.once("exit", () => rmSync(own, { recursive: true, force: true }));
  }
  const pairs: PipePaths[] = [];
  for (let count = 0; count < madeTogether; count++) {
    made++;
    pairs.push([join(folder, `${made}-stdout`), join(folder, `${made}-stderr`)]);
  }
  try {
    await promisify(execFile)("mkfifo", pairs.flat());
    // Another user's command opens it by /proc; nobody else gets into the folder.
    for (const path of pairs.flat()) chmodSync(path, 0o666);
    idle.push(...pairs);
  } catch {
    // Commands get sockets then.
  }
}
