import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type Client, createClient } from "../src/client/client.ts";

export type ServerProcess = {
  readonly url: string;
  readonly pid: number;
  readonly client: Client;
  /** All that it wrote. */
  output(): string;
  readonly ended: () => boolean;
  /** Resolves at its end. */
  readonly gone: Promise<unknown>;
  /** Sends the signal and waits for the end; kills what does not end within 30 seconds. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
};

export type ServerProcessOptions = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Modules that it loads first. */
  readonly preload?: readonly string[];
  /** A command that runs the one behind it. */
  readonly within?: readonly string[];
};

/** `colloquy serve` as a process of its own, on a free port; ends with this one. */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const { cwd, env, within = [] } = options;
  // Where the answers of this process are watched, those of its servers are too.
  const watched = process.env["COLLOQUY_TEST_ANSWERS_FILE"];
  const watch = watched === undefined ? [] : [join(import.meta.dirname, "answers/watch-answers.ts")];
  const preload = [...watch, ...(options.preload ?? [])];
  const flags = ["--disable-warning=ExperimentalWarning", ...preload.flatMap((file) => ["--import", file])];
  const command = [...within, process.execPath, ...flags, join(import.meta.dirname, "../src/cli.ts"), "serve"];
  const child = spawn(command[0]!, command.slice(1), {
    cwd,
    env: {
      PATH: process.env["PATH"] ?? "",
      COLLOQUY_PORT: "0",
      COLLOQUY_PROBE: "false",
      COLLOQUY_TITLES: "first-words",
      ...(watched !== undefined && { COLLOQUY_TEST_ANSWERS_FILE: watched }),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const gone = once(child, "exit");
  let output = "";
  const url = await new Promise<string>((resolve, reject) => {
    const read = (data: Buffer) => {
      output += data.toString();
      const listening = /listening +(http:\S+)/.exec(output)?.[1];
      if (listening !== undefined) resolve(listening);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("close", () => reject(new Error(`The server ended while it started:\n${output}`)));
  });
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  return {
    url,
    pid: child.pid!,
    client: createClient({ url }),
    output: () => output,
    ended,
    gone,
    async end(signal) {
      process.off("exit", kill);
      child.kill(signal);
      const late = setTimeout(kill, 30_000);
      await gone;
      clearTimeout(late);
    },
  };
}
