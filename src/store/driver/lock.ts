import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Conflict } from "../../protocol/base/errors.ts";
import { makePrivate } from "./private-files.ts";

/** The process that has a data directory open. Fields are absent if unknown or unreadable. */
export type Holder = {
  readonly pid?: number;
  /** Where its server listens. */
  readonly url?: string;
  /** Of PostgreSQL, where it is: `localhost:5432/colloquy`. */
  readonly database?: string;
  readonly started?: string;
  /** Lets a local command of the same operating-system user talk to the server. */
  readonly token?: string;
};

export type Lock = {
  readonly token: string;
  /** Tells others where the server listens. */
  announce(details: Pick<Holder, "url" | "database">): void;
  release(): void;
};

/** Keeps references: the garbage collector would free a lock without one. */
const held = new Set<DatabaseSync>();

/**
 * Takes a data directory for this process; throws Conflict `data_in_use`, naming the holder. PGlite itself doesn't
 * notice a second process, and both would lose rows. The lock is SQLite's on an empty file: the kernel frees it
 * however the process ends. Nothing else may open that file in this process, since closing it would free the lock.
 */
export function takeLock(dataDirectory: string): Lock {
  // The timeout covers a concurrent `readHolder`.
  const file = new DatabaseSync(join(dataDirectory, "lock"), { timeout: 200 });
  try {
    // Anyone who can open the file could lock it.
    makePrivate(join(dataDirectory, "lock"));
    file.exec("begin exclusive");
  } catch (cause) {
    file.close();
    if (!isBusy(cause)) throw cause;
    throw new Conflict(
      `The data directory ${dataDirectory} is in use by ${describeHolder(readFiles(dataDirectory))}.`,
      {
        code: "data_in_use",
        cause,
      },
    );
  }

  held.add(file);
  const token = `ct_${randomBytes(32).toString("base64url")}`;
  const started = new Date().toISOString();
  write(dataDirectory, "token", token);
  write(dataDirectory, "holder.json", JSON.stringify({ pid: process.pid, started }));
  return {
    token,
    announce: (details) =>
      write(dataDirectory, "holder.json", JSON.stringify({ pid: process.pid, started, ...details })),
    release() {
      if (!file.isOpen) return;
      rmSync(join(dataDirectory, "holder.json"), { force: true });
      rmSync(join(dataDirectory, "token"), { force: true });
      held.delete(file);
      file.close();
    },
  };
}

/** Returns who has the data directory open; undefined if nobody does, whatever files a killed process left behind. */
export function readHolder(dataDirectory: string): Holder | undefined {
  let file: DatabaseSync;
  try {
    file = new DatabaseSync(join(dataDirectory, "lock"), { readOnly: true });
  } catch {
    return undefined;
  }
  try {
    file.prepare("select 1 from sqlite_schema").all();
    return undefined;
  } catch (error) {
    if (!isBusy(error)) throw error;
    return readFiles(dataDirectory);
  } finally {
    file.close();
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === 5;
}

function readFiles(dataDirectory: string): Holder {
  return { ...parsed(read(dataDirectory, "holder.json")), token: read(dataDirectory, "token") };
}

function parsed(text: string | undefined): Holder {
  try {
    return JSON.parse(text ?? "{}") as Holder;
  } catch {
    return {};
  }
}

function describeHolder({ pid, url }: Holder): string {
  const process = pid === undefined ? "another process" : `process ${pid}`;
  return url === undefined ? process : `${process}, which serves ${url}`;
}

function read(dataDirectory: string, name: string): string | undefined {
  try {
    return readFileSync(join(dataDirectory, name), "utf8");
  } catch {
    return undefined;
  }
}

/** Writes a file atomically, readable by this operating-system user only. */
function write(dataDirectory: string, name: string, text: string): void {
  const path = join(dataDirectory, name);
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
