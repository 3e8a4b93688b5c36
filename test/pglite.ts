import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
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

/** A new folder that goes when this process ends. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `colloquy-${name}-`));
  temporary.push(folder);
  return folder;
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
