import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { constants, cp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Conflict } from "../src/protocol/errors.ts";
import { type Lock, takeLock } from "../src/store/lock.ts";
import { openPGlite } from "../src/store/pglite.ts";

const modules = join(import.meta.dirname, "..", "node_modules");
const temporary: string[] = [];
process.on("exit", () => {
  for (const folder of temporary) rmSync(folder, { recursive: true, force: true });
});

/** A new folder that goes when this process ends, or else when a later one finds that it has been killed. */
export function temporaryFolder(name: string): string {
  if (temporary.length === 0) removeLeftBehind();
  const folder = mkdtempSync(join(tmpdir(), `colloquy-${name}-${process.pid}-`));
  temporary.push(folder);
  return folder;
}

function removeLeftBehind(): void {
  for (const entry of readdirSync(tmpdir())) {
    const pid = /^colloquy-[a-z]+-(\d+)-\w{6}$/.exec(entry)?.[1];
    if (pid && !isAlive(Number(pid))) rmSync(join(tmpdir(), entry), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** A data directory with an empty database in it: making one takes seconds, copying one does not. */
export async function freshDataDirectory(): Promise<string> {
  const folder = temporaryFolder("data");
  await cp(await emptyDatabase(), join(folder, "db"), { recursive: true, mode: constants.COPYFILE_FICLONE });
  return folder;
}

/** Made once for each version of PGlite; of several processes one makes it and the others wait. */
async function emptyDatabase(): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(modules, "@electric-sql/pglite/package.json"), "utf8")) as {
    version: string;
  };
  const folder = join(modules, ".cache", "colloquy", `pglite-${version}`);
  const made = join(folder, "made");
  if (existsSync(made)) return made;

  mkdirSync(folder, { recursive: true });
  const lock = await waitForLock(folder);
  try {
    if (existsSync(made)) return made;
    const unfinished = join(folder, "unfinished");
    await rm(unfinished, { recursive: true, force: true });
    const database = await openPGlite({ directory: unfinished });
    await database.close();
    await rename(unfinished, made);
    return made;
  } finally {
    lock.release();
  }
}

async function waitForLock(folder: string): Promise<Lock> {
  for (;;) {
    try {
      return takeLock(folder);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      await delay(100);
    }
  }
}
