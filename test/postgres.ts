import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { accessSync, chownSync, constants, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { databaseFolder } from "./memory-folder.ts";
import type { SmallDisk } from "./small-disk.ts";

export type PostgresServer = {
  /** Of the database `postgres`; others are made by `createDatabase`. */
  readonly url: string;
  /** A new, empty database; resolves to its URL. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
};

/** One that is ours alone, and can be harmed. */
export type OwnPostgres = PostgresServer & {
  /** Whether it takes connections. */
  answers(): Promise<boolean>;
  /** kill -9 of all its processes: what it has not given to the operating system is gone. */
  crash(): Promise<void>;
  /** As an operator ends it: connections are closed, nothing is lost. */
  shutDown(): Promise<void>;
  /** Starts on the same files, as at another place when failing over; resolves to its new URL. */
  startAgain(): Promise<string>;
};

export type PostgresOptions = {
  /** Commits wait for the disk, as in production; tests don't need it. */
  readonly fsync?: boolean;
  /** Further settings, as in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Where its files are to be, instead of in the temporary folder; only root can put them there. */
  readonly disk?: SmallDisk;
};

/**
 * A PostgreSQL server of our own from the installed binaries, in a temporary folder. It ends with `stop`, and also
 * when this process ends in whatever way. `COLLOQUY_TEST_POSTGRES` names a server to use instead.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const shared = process.env["COLLOQUY_TEST_POSTGRES"];
  if (shared && !options.fsync && !options.settings) return databasesOf(shared);

  return startOwnPostgres(options);
}

/** Never the shared one. */
export async function startOwnPostgres(options: PostgresOptions = {}): Promise<OwnPostgres> {
  const bin = findBinaries();
  for (let attempt = 1; ; attempt++) {
    try {
      return await startServer(bin, options);
    } catch (error) {
      // Somebody else may have taken the port meanwhile.
      if (attempt === 3) throw error;
    }
  }
}

/** A part of a server that others use too: what was made there goes at its end. */
function databasesOf(url: string): PostgresServer {
  const made: string[] = [];
  return {
    url,
    async createDatabase() {
      const database = await createDatabase(url);
      made.push(new URL(database).pathname.slice(1));
      return database;
    },
    stop: () =>
      withClient(url, async (client) => {
        for (const name of made.splice(0)) await client.query(`drop database ${name} with (force)`);
      }),
  };
}

async function startServer(bin: string, options: PostgresOptions): Promise<OwnPostgres> {
  const user = unprivilegedUser();
  // What is to wait for the disk must be on one.
  const folder = mkdtempSync(join(options.fsync ? tmpdir() : databaseFolder(), "colloquy-postgres-"));
  if (user) chownSync(folder, user.uid, user.gid);

  const { disk } = options;
  if (disk && user) chownSync(disk.outside, user.uid, user.gid);
  // Whoever enters the namespace of a disk must be root until they are in it.
  const within =
    disk && user
      ? [...disk.within, "setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", "--"]
      : [];
  const as = within.length > 0 ? undefined : user;
  const data = join(disk?.path ?? folder, "data");
  const initdb = [...within, join(bin, "initdb"), "--pgdata", data, "--username", "colloquy", "--auth", "trust"];
  const more = ["--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions"];
  const made = spawnSync(initdb[0]!, [...initdb.slice(1), ...more], { ...as, cwd: folder, encoding: "utf8" });
  if (made.status !== 0) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`initdb failed: ${made.stderr}`, { cause: made.error });
  }

  const port = await freePort();
  const server = spawnServer([...within, join(bin, "postgres"), "-D", data, ...settings({ folder, options })], {
    folder,
    user: as,
  });
  server.stdin!.write(`start ${port}\n`);
  const log = await startLog(server);
  if (!log.ready) throw new Error(`PostgreSQL did not start:\n${log.text}`);
  const urlAt = (place: number) => `postgres://colloquy@127.0.0.1:${place}/postgres`;
  let url = urlAt(port);
  const end = async (order: "kill" | "stop") => {
    server.stdin!.write(`${order}\n`);
    await until(async () => !(await answers(url)));
  };
  return {
    url,
    createDatabase: () => createDatabase(url),
    answers: () => answers(url),
    crash: () => end("kill"),
    shutDown: () => end("stop"),
    async startAgain() {
      const place = await freePort();
      url = urlAt(place);
      server.stdin!.write(`start ${place}\n`);
      await until(() => answers(url));
      return url;
    },
    stop: () => stop(server),
  };
}

function answers(url: string): Promise<boolean> {
  return withClient(url, async (client) => client.query("select 1")).then(
    () => true,
    () => false,
  );
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; !(await condition()); await sleep(20))
    if (Date.now() > end) throw new Error("PostgreSQL did not do as it was told within a minute.");
}

type User = { readonly uid: number; readonly gid: number };

/** Whether PostgreSQL server binaries are installed. */
export function hasPostgres(): boolean {
  return searchBinaries() !== undefined;
}

function findBinaries(): string {
  const found = searchBinaries();
  if (found === undefined) {
    throw new Error(
      "PostgreSQL's server binaries (initdb, postgres) are missing. On Debian or Ubuntu: apt-get install postgresql",
    );
  }
  return found;
}

/** Debian keeps them outside PATH, one folder a version; the newest wins. */
function searchBinaries(): string | undefined {
  const versioned = "/usr/lib/postgresql";
  const versions = listed(versioned).sort((a, b) => Number(b) - Number(a));
  const folders = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    ...versions.map((version) => join(versioned, version, "bin")),
  ];
  return folders.find((folder) => isExecutable(join(folder, "initdb")) && isExecutable(join(folder, "postgres")));
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** PostgreSQL refuses to run as root, so root lends it another user. */
function unprivilegedUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const [uid, gid] = ["-u", "-g"].map((flag) =>
      Number(spawnSync("id", [flag, name], { encoding: "utf8" }).stdout || Number.NaN),
    );
    if (uid && gid) return { uid, gid };
  }
  throw new Error("PostgreSQL does not run as root, and there is neither a user `postgres` nor `nobody`.");
}

function settings({ folder, options }: { folder: string; options: PostgresOptions }): string[] {
  const durability = options.fsync ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };
  const all = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: folder,
    max_connections: "200",
    ...durability,
    ...options.settings,
  };
  return Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/**
 * The shell starts the server, kills or stops it as it is told, a line each; it ends it and removes the folder when our end of its
 * stdin closes: by `stop`, or by our death.
 */
function spawnServer(
  command: readonly string[],
  { folder, user }: { folder: string; user: User | undefined },
): ChildProcess {
  return spawn("/bin/sh", ["-c", keeper, "sh", ...command], {
    ...user,
    cwd: folder,
    detached: true,
    stdio: ["pipe", "ignore", "pipe"],
  });
}

const keeper = `
while read -r order port; do
  case "$order" in
    start) "$@" -c "port=$port" </dev/null & server=$! ;;
    kill) kill -STOP $server; all="$server $(pgrep -P $server)"; kill -KILL $all; wait $server
      for process in $all; do while kill -0 "$process"; do sleep 0.01; done; done ;;
    stop) kill -INT $server; wait $server ;;
  esac
done
kill -QUIT $server; wait $server; rm -rf "$PWD"`;

async function startLog(server: ChildProcess): Promise<{ ready: boolean; text: string }> {
  const stderr = server.stderr!;
  let text = "";
  const ready = await new Promise<boolean>((resolve) => {
    stderr.on("data", (chunk: Buffer) => {
      text += String(chunk);
      if (text.includes("ready to accept connections")) resolve(true);
      else if (text.includes("database system is shut down")) resolve(false);
    });
    stderr.once("end", () => resolve(false));
  });
  // Read on, or the server stands still with its next messages once the pipe is full.
  stderr.removeAllListeners("data").on("data", () => {});
  if (ready) for (const handle of [server, server.stdin!, stderr]) (handle as { unref?: () => void }).unref?.();
  else server.stdin!.end();
  return { ready, text };
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  server.ref();
  const exited = once(server, "exit");
  server.stdin!.end();
  await exited;
}

async function createDatabase(url: string): Promise<string> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  await withClient(url, (client) => client.query(`create database ${name}`));
  const made = new URL(url);
  made.pathname = `/${name}`;
  return made.href;
}

async function withClient(url: string, use: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
