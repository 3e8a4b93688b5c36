import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../listen.ts";
import type { Random } from "../random.ts";
import { installPeer, versionsIn } from "./install.ts";
import type { Followed, Peer, PeerOptions, Seen } from "./peer.ts";

const here = import.meta.dirname;
const cache = join(here, "../../.cache/chaos-peers");

/** What a peer is made of, as `npm ci` installs it. */
export function versionsOf(name: string): readonly string[] {
  return versionsIn(join(here, name));
}

/** A program of `chaos/peers/<name>`, in a group of processes of its own. */
export async function startHttpPeer(name: string, random: Random, options: PeerOptions): Promise<Peer> {
  const program = join(cache, name);
  await installPeer([join(here, "shared"), join(here, name)], program);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = openSync(join(options.folder, `${name}.log`), "a");
  let child: ChildProcess | undefined;
  let streams = false;
  const killGroup = () => {
    if (child?.pid) process.kill(-child.pid, "SIGKILL");
    child = undefined;
  };
  process.on("exit", killGroup);

  async function start(): Promise<void> {
    const own = fork(join(program, "server.mjs"), [], {
      cwd: program,
      detached: true,
      execArgv: ["--disable-warning=ExperimentalWarning", "--import", join(here, "../leash.ts")],
      stdio: ["ignore", log, log, "ipc"],
      env: {
        PATH: process.env["PATH"],
        HOME: options.folder,
        PORT: String(port),
        DATABASE_URL: options.databaseUrl,
        MODEL_URL: options.modelUrl,
        CHAOS_OUTSIDE: options.outsideUrl,
        DATA: options.folder,
        NODE_ENV: "production",
        MASTRA_TELEMETRY_DISABLED: "1",
      },
    });
    child = own;
    own.once("exit", () => {
      if (child === own) child = undefined;
    });
    for (const end = Date.now() + 90_000; ; await sleep(50)) {
      const health = await ask<{ streams: boolean }>(`${url}/health`).catch(() => undefined);
      if (health) return void (streams = health.body.streams);
      if (child !== own || Date.now() > end)
        throw new Error(`${name} did not start; see ${options.folder}/${name}.log`);
    }
  }
  await start();

  async function kill(): Promise<void> {
    const own = child;
    if (!own) return;
    const gone = once(own, "exit");
    killGroup();
    await gone;
  }

  return {
    start,
    kill,
    async close() {
      await kill();
      process.off("exit", killGroup);
    },
    async submit(id, message, signal) {
      const { status } = await ask(`${url}/runs`, { method: "POST", body: JSON.stringify({ id, message }), signal });
      if (status !== 202) throw new Error(`refused with ${status}`);
    },
    async look(id, signal) {
      const { status, body } = await ask<Seen>(`${url}/runs/${id}`, { signal });
      if (status >= 500) throw new Error(`answered ${status}`);
      return status === 404 ? { status: "gone" } : body;
    },
    ...(streams ? { follow: (id, signal) => follow(`${url}/runs/${id}/stream`, random, signal) } : {}),
  };
}

async function ask<Body>(url: string, init: RequestInit = {}): Promise<{ status: number; body: Body }> {
  const signal = AbortSignal.any([AbortSignal.timeout(10_000), ...(init.signal ? [init.signal] : [])]);
  const response = await fetch(url, { ...init, signal });
  return { status: response.status, body: (await response.json()) as Body };
}

type Line = { readonly cursor?: number; readonly text?: string; readonly reset?: true; readonly end?: true };

/** For a moment each time, then from the last cursor on. */
async function follow(url: string, random: Random, signal: AbortSignal): Promise<Followed> {
  let told = "";
  let cursor = 0;
  while (!signal.aborted) {
    const moment = AbortSignal.any([signal, AbortSignal.timeout(random.between(200, 4000))]);
    try {
      const response = await fetch(`${url}?after=${cursor}`, { signal: moment });
      let rest = "";
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop()!;
        for (const line of lines.map((text) => JSON.parse(text) as Line)) {
          if (line.end) return { text: told, faults: [] };
          told = line.reset ? "" : told + (line.text ?? "");
          cursor = line.cursor ?? cursor;
        }
      }
    } catch {
      // Killed, or the moment is over.
    }
    await sleep(random.between(10, 200));
  }
  return { text: told, faults: ["the stream had no end"] };
}
