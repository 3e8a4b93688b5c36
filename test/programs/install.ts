import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

const cache = join(import.meta.dirname, "../../.cache/programs");

/** `skip`: why it is not there. */
export type Installed = { readonly folder: string; readonly skip: string | false };

/** What is installed: packages by name and exact version, or what the package-lock.json of a folder names. */
export type Wanted = { readonly name: string } & ({ readonly spec: string } | { readonly lockedIn: string });

/**
 * A program or library that few need, in a folder of its own, installed at the first time; its scripts are not run. Where npm can't have it,
 * its tests are left out, with what npm said: a registry that is away says nothing of what is tested.
 */
export function installed(wanted: Wanted): Installed {
  const folder = join(cache, wanted.name);
  if (existsSync(folder)) return { folder, skip: false };
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    if ("lockedIn" in wanted)
      for (const file of ["package.json", "package-lock.json"])
        cpSync(join(wanted.lockedIn, file), join(unfinished, file));
    const what = "spec" in wanted ? ["install", "--no-save", wanted.spec] : ["ci"];
    const flags = ["--prefix", unfinished, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    const npm = spawnSync("npm", [...what, ...flags, "--fetch-timeout=60000", "--fetch-retries=1"], {
      env: { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}` },
      encoding: "utf8",
      timeout: 180_000,
    });
    if (npm.status !== 0) {
      const skip = `npm can't install ${wanted.name}: ${npm.error?.message ?? npm.stderr.trim()}`;
      return { folder, skip };
    }
    // Of two who install at once, the first one's stays.
    if (!existsSync(folder)) renameSync(unfinished, folder);
    return { folder, skip: false };
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
