import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

type Command = { readonly id: number; readonly name: string; readonly input: unknown };
type Answer = { readonly id: number; readonly result?: unknown; readonly error?: string };

/** A process of the bench that answers commands; it ends when its parent does. */
export type Child = {
  readonly pid: number;
  call<Result>(name: string, input?: unknown): Promise<Result>;
  /** The last of what it printed. */
  printed(): string;
  stop(): Promise<void>;
};

export type ChildOptions = {
  readonly args?: readonly string[];
  /** Added to this process' environment; undefined takes a name out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly execArgv?: readonly string[];
  readonly cwd?: string;
};

/** As everything has that is started by scripts/bootstrap.mjs. */
const compileCache = fileURLToPath(new URL("../.cache/compile", import.meta.url));

/** Starts a module of the bench (path relative to this folder) and waits until it serves commands. */
export async function startChild(file: string, options: ChildOptions = {}): Promise<Child> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), options.args ?? [], {
    execArgv: [...(options.execArgv ?? [])],
    env: { NODE_COMPILE_CACHE: compileCache, ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    // JSON would turn Infinity into null.
    serialization: "advanced",
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => (printed = (printed + text).slice(-10_000)));
  }
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const exited = once(child, "exit");
  child.on("message", (answer: Answer) => {
    const waiter = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (answer.error !== undefined) waiter?.reject(new Error(`${file}: ${answer.error}`));
    else waiter?.resolve(answer.result);
  });
  child.on("close", (code) => {
    for (const waiter of waiting.values()) waiter.reject(new Error(`${file} ended with code ${code}:\n${printed}`));
    waiting.clear();
  });
  let last = 0;
  const self: Child = {
    pid: child.pid ?? 0,
    call: <Result>(name: string, input?: unknown) =>
      new Promise<Result>((resolve, reject) => {
        const id = ++last;
        waiting.set(id, { resolve: (value) => resolve(value as Result), reject });
        child.send({ id, name, input } satisfies Command, (error) => error && reject(error));
      }),
    printed: () => printed,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      if (child.connected) child.disconnect();
      const kill = setTimeout(() => child.kill("SIGKILL"), 15_000);
      await exited;
      clearTimeout(kill);
    },
  };
  // Commands sent before the child listens are kept by the channel, so this resolves once it does.
  await self.call("ping");
  return self;
}

export type Commands = Readonly<Record<string, (input: never) => unknown>>;

/** The child's side: answers its parent's commands. `ended` runs when the parent has gone. */
export function serveCommands(commands: Commands, ended: () => void = () => process.exit(0)): void {
  const all: Commands = { ping: () => true, ...commands };
  process.on("message", async ({ id, name, input }: Command) => {
    let answer: Answer;
    try {
      const command = all[name];
      if (!command) throw new Error(`no command ${name}`);
      answer = { id, result: await command(input as never) };
    } catch (error) {
      answer = { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
    process.send?.(answer);
  });
  process.on("disconnect", ended);
}

/** CPU milliseconds of this process, all threads, since it started. */
export function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
