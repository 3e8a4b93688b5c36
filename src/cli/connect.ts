import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerAccess } from "../client/request.ts";
import type { Config } from "../config/schema.ts";
import { Unavailable } from "../protocol/base/errors.ts";
import { readHolder } from "../store/driver/lock.ts";
import { refuseOtherDatabase } from "../store/driver/postgres-nodes.ts";

export type ServerConnection = {
  readonly server: ServerAccess;
  /** It was started here, and ends with this command. */
  readonly isOwn: boolean;
  readonly close: () => Promise<void>;
};

const startingMs = 15_000;

export type ConnectOptions = {
  /** A server that is started here takes runs. */
  readonly runsJobs: boolean;
  /** What it logs would stand in the middle of the screen: it goes into this file of the data directory. */
  readonly logFile?: string;
};

/** The server that holds the data directory, or one started here for as long as the command takes. */
export async function connect(config: Config, { runsJobs, logFile }: ConnectOptions): Promise<ServerConnection> {
  const running = await findServer(config);
  if (running) return { server: running, isOwn: false, close: async () => {} };
  refuseOtherDatabase(config.data, config.database.url);
  // Whoever is in another folder than yesterday would wonder where everything is.
  if (config.database.url === undefined && !existsSync(join(config.data, "db")))
    console.error(
      `${config.data} has no data yet: starting a new installation there (set COLLOQUY_DATA to use another folder).`,
    );
  // Only here: a command that finds a server needs none of what a server is made of.
  const { createLog } = await import("../app/log.ts");
  const { startColloquy } = await import("../main.ts");
  const log = createLog({
    level: config.log.level === "info" ? "warn" : config.log.level,
    pretty: process.stderr.isTTY,
    ...(logFile === undefined ? {} : { file: join(config.data, "logs", logFile) }),
  });
  if (logFile !== undefined && process.stderr.isTTY)
    console.error("No server is running: starting one for this command.");
  const colloquy = await startColloquy(
    { ...config, server: { ...config.server, host: "127.0.0.1", port: 0 } },
    { log, runsJobs, onStep: (text) => console.error(text) },
  );
  return { server: { url: colloquy.url, token: colloquy.token }, isOwn: true, close: colloquy.stop };
}

/** Undefined: nobody holds the data directory. A server that is just starting is waited for. */
export async function findServer(config: Config): Promise<ServerAccess | undefined> {
  const end = performance.now() + startingMs;
  for (;;) {
    const holder = readHolder(config.data);
    if (!holder) return undefined;
    if (holder.url !== undefined) return asItMoves(config, { url: holder.url, token: holder.token });
    if (performance.now() > end)
      throw new Unavailable(`Process ${holder.pid ?? "?"} is using ${config.data}, but hasn't reported its address.`);
    await sleep(200);
  }
}

/** A server that is started anew may listen elsewhere, and has another token: each request looks where it is now. */
function asItMoves({ data }: Config, found: ServerAccess): ServerAccess {
  let last = found;
  const now = () => {
    const holder = readHolder(data);
    if (holder?.url !== undefined) last = { url: holder.url, token: holder.token };
    return last;
  };
  return {
    get url() {
      return now().url;
    },
    get token() {
      return now().token;
    },
  };
}
