import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

type Package = { readonly dependencies?: Readonly<Record<string, string>> };

/** What the peer of a folder is made of, as `npm ci` installs it. */
export function versionsIn(folder: string): readonly string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Package;
  return Object.entries(dependencies).map(([dependency, version]) => `${dependency} ${version}`);
}

/**
 * Puts a peer's files, those of all folders together, and its packages into `folder`; packages only if the lock file is
 * another one than last time.
 */
export async function installPeer(from: readonly string[], folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const source of from) for (const file of readdirSync(source)) cpSync(join(source, file), join(folder, file));
  const lock = join(folder, "package-lock.json");
  const stamp = join(folder, "node_modules", ".installed-lock");
  if (!existsSync(lock)) return;
  const wanted = readFileSync(lock, "utf8");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  console.error(`installing ${versionsIn(folder).join(", ")} into ${folder}`);
  const npm = spawn("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: ["ignore", process.stderr, process.stderr],
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`,
      SCARF_ANALYTICS: "false",
    },
  });
  const [code] = (await once(npm, "exit")) as [number | null];
  if (code !== 0) throw new Error(`npm ci failed in ${folder}`);
  writeFileSync(stamp, wanted);
}
