import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
} from "node:fs";
import { rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Conflict } from "../src/protocol/base/errors.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import { type Lock, takeLock } from "../src/store/driver/lock.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { openPGlite } from "../src/store/driver/pglite.ts";
import { databaseFolder } from "./memory-folder.ts";

const schema = join(import.meta.dirname, "../src/store/schema");
const modules = join(import.meta.dirname, "..", "node_modules");
const temporary: string[] = [];
const dayMs = 24 * 3_600_000;
process.on("exit", () => {
  for (const folder of temporary) rmSync(folder, { recursive: true, force: true });
});

/** A new folder that goes when this process ends, or else when a later one finds that it has been killed. */
export function temporaryFolder(name: string, parent = tmpdir()): string {
  if (temporary.length === 0) for (const root of new Set([tmpdir(), databaseFolder()])) removeLeftBehind(root);
  const folder = mkdtempSync(join(parent, `colloquy-${name}-${pidNamespace}-${process.pid}-`));
  temporary.push(folder);
  return folder;
}

/** Containers may share a folder, and each has processes of its own under the same numbers. */
const pidNamespace = readPidNamespace();

function readPidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  } catch {
    // Only Linux has them.
    return "0";
  }
}

/** Of this user only: others remove their own. */
function removeLeftBehind(root: string): void {
  for (const entry of readdirSync(root)) {
    const [, namespace, pid] = /^colloquy-.+-(\d+)-(\d+)-\w{6}$/.exec(entry) ?? [];
    const path = join(root, entry);
    const found = pid === undefined ? undefined : lstatSync(path, { throwIfNoEntry: false });
    if (!found || found.uid !== process.getuid?.()) continue;
    // Nobody can tell whether a process of another namespace lives, but no test lives for a day.
    const isLeft = namespace === pidNamespace ? !isAlive(Number(pid)) : Date.now() - found.mtimeMs > dayMs;
    if (isLeft) rmSync(path, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/**
 * A data directory with a database in it that has all tables, those of the job queue too, and no rows, or with an empty one: making
 * either takes seconds, copying does not.
 */
export async function freshDataDirectory({ migrated = true }: { readonly migrated?: boolean } = {}): Promise<string> {
  const folder = temporaryFolder("data", databaseFolder());
  const made = await kept(migrated ? { name: `migrated-${schemaHash()}`, make: makeMigrated } : empty);
  // A tenth of the CPU of its asynchronous sister.
  cpSync(join(made, "db"), join(folder, "db"), { recursive: true });
  return folder;
}

type Kept = { readonly name: string; readonly make: (folder: string) => Promise<void> };

const empty: Kept = {
  name: "empty",
  make: async (folder) => {
    const database = await openPGlite({ directory: join(folder, "db") });
    await database.close();
  },
};

async function makeMigrated(folder: string): Promise<void> {
  cpSync(join(await kept(empty), "db"), join(folder, "db"), { recursive: true });
  const database = await openDatabase({ dataDirectory: folder });
  await migrate(database);
  // Its tables take most of a second, in each test that has runs. Most that come by here need not load it.
  const { createTimetable } = await import("../src/run/engine/timetable.ts");
  const timetable = await createTimetable({ database, log: silentLog });
  await timetable.stop();
  await database.close();
}

/** Of everything that the tables of an empty database are made by: the baseline, what came later, and the job queue. */
function schemaHash(): string {
  const made = globSync(["baseline.ts", "baseline/*.sql", "migrations/*.ts"], { cwd: schema });
  const texts = made.sort().map((file) => readFileSync(join(schema, file), "utf8"));
  const imported = new Set(
    texts.flatMap((text) => [...text.matchAll(/ from "\.\.\/([^"]+)"/g)].map(([, path]) => path!)),
  );
  for (const path of imported) texts.push(readFileSync(join(schema, path), "utf8"));
  for (const path of [
    join(modules, "pg-boss/package.json"),
    join(import.meta.dirname, "../src/run/engine/timetable.ts"),
  ])
    texts.push(readFileSync(path, "utf8"));
  return createHash("sha256").update(texts.join("\n")).digest("hex").slice(0, 16);
}

/** Made once for each version of PGlite; of several processes one makes it and the others wait. */
async function kept({ name, make }: Kept): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(modules, "@electric-sql/pglite/package.json"), "utf8")) as {
    version: string;
  };
  const folder = join(modules, ".cache", "colloquy", `pglite-${version}-${name}`);
  const made = join(folder, "made");
  if (existsSync(made)) return made;

  mkdirSync(folder, { recursive: true });
  const lock = await waitForLock(folder);
  try {
    if (existsSync(made)) return made;
    const unfinished = join(folder, "unfinished");
    await rm(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished);
    await make(unfinished);
    await rename(unfinished, made);
    removeOutdated(dirname(folder));
    return made;
  } finally {
    lock.release();
  }
}

/** Of tables as they were: nobody has asked for these for a day. */
function removeOutdated(folder: string): void {
  for (const entry of readdirSync(folder)) {
    const path = join(folder, entry);
    const isOld = Date.now() - statSync(path).mtimeMs > dayMs;
    if (isOld && entry.includes("-migrated-")) rmSync(path, { recursive: true, force: true });
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
