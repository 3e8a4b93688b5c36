import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from "@modelcontextprotocol/client";
import type { Log } from "../../protocol/base/log.ts";

export type StdioOptions = {
  readonly server: string;
  readonly command: string;
  readonly args: readonly string[];
  /** All of it: nothing of our own environment is added. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  readonly log: Log;
  /** Of one message; the program is ended if it writes a longer one. */
  readonly maxBytes: number;
};

const graceMs = 1000;
const loggedCharacters = 500;
/** Of what the program says on standard error, in a minute. */
const loggedLines = 60;

/**
 * A program that is spoken to over its standard input and output. It leads a process group of its own, so that what it
 * started ends with it. The class has the members by which the client knows a pipe.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <Message extends JSONRPCMessage>(message: Message) => void;
  readonly stderr = null;
  /** How the program ended, for people. */
  ending: string | undefined;
  private child: ChildProcessWithoutNullStreams | undefined;
  private closed: Promise<void> | undefined;
  private readonly options: StdioOptions;
  private readonly buffer: ReadBuffer;

  constructor(options: StdioOptions) {
    this.options = options;
    this.buffer = new ReadBuffer({ maxBufferSize: options.maxBytes });
  }

  get pid(): number | null {
    return this.child?.pid ?? null;
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.options;
    const child = spawn(command, args, { env, cwd, stdio: "pipe", detached: true, windowsHide: true });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    child.once("spawn", resolve);
    child.on("error", (error) => {
      reject(new Error(`${command} can't be started: ${error.message}`, { cause: error }));
      this.onerror?.(error);
    });
    child.once("exit", (code, signal) => {
      this.ending = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
    });
    child.once("close", () => this.ended());
    child.stdin.on("error", (error) => this.onerror?.(error));
    child.stdout.on("data", (chunk: Buffer) => this.read(chunk));
    this.logErrors(child);
    this.child = child;
    await promise;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.child?.stdin;
    if (!stdin?.writable) throw new Error(`${this.options.command} has ended.`);
    if (!stdin.write(serializeMessage(message)))
      await new Promise((resolve) => stdin.once("drain", resolve).once("close", resolve));
  }

  /** Asks the program to end by closing its input, then ends it and all that it started. */
  close(): Promise<void> {
    this.closed ??= this.end();
    return this.closed;
  }

  private async end(): Promise<void> {
    const { child } = this;
    if (!child?.pid) return this.ended();
    const hasExited = () => child.exitCode !== null || child.signalCode !== null;
    const exited = hasExited() ? Promise.resolve() : new Promise((resolve) => child.once("exit", resolve));
    child.stdin.end();
    if (!(await within(exited, graceMs))) {
      signalGroup(child.pid, "SIGTERM");
      await within(exited, graceMs);
    }
    signalGroup(child.pid, "SIGKILL");
    await exited;
    for (const stream of child.stdio) stream?.destroy();
    this.ended();
  }

  private ended(): void {
    if (!this.child) return;
    this.child = undefined;
    this.buffer.clear();
    this.onclose?.();
  }

  private read(chunk: Buffer): void {
    try {
      this.buffer.append(chunk);
    } catch (error) {
      this.fail(error);
      void this.close();
      return;
    }
    for (;;) {
      try {
        const message = this.buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        // Whatever else a program prints on its standard output.
        this.fail(error);
      }
    }
  }

  private fail(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }

  private logErrors({ stderr }: ChildProcessWithoutNullStreams): void {
    const { server, log } = this.options;
    let minute = 0;
    let count = 0;
    stderr.setEncoding("utf8");
    createInterface({ input: stderr }).on("line", (line) => {
      const now = Math.floor(performance.now() / 60_000);
      if (now !== minute) [minute, count] = [now, 0];
      if (++count <= loggedLines) log.info({ server, line: line.slice(0, loggedCharacters) }, "an MCP server says");
    });
  }
}

/** True if it came in time. */
async function within(event: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  try {
    return await Promise.race([event.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // There is nobody left in it.
  }
}
