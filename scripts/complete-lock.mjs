/**
 * Completes package-lock.json after `npm install`. A registry mirror may lack the packages of platforms it does not
 * serve; npm then leaves these optional dependencies out of the lock file, and `npm ci` refuses it everywhere.
 * `--check` changes nothing and fails when something is missing.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const path = join(import.meta.dirname, "..", "package-lock.json");
const lock = JSON.parse(readFileSync(path, "utf8"));
const missing = Object.values(lock.packages).flatMap((parent) =>
  Object.entries(parent.optionalDependencies ?? {})
    .filter(([name]) => !Object.keys(lock.packages).some((key) => key.endsWith(`node_modules/${name}`)))
    .map(([name, version]) => ({ name, version, dev: parent.dev })),
);

if (missing.length === 0) {
  console.log("package-lock.json is complete.");
} else if (process.argv.includes("--check")) {
  console.error(`package-lock.json lacks optional packages, so npm ci refuses it:`);
  for (const { name, version } of missing) console.error(`  ${name}@${version}`);
  console.error("Run: node scripts/complete-lock.mjs");
  process.exitCode = 1;
} else {
  for (const { name, version, dev } of missing) {
    lock.packages[`node_modules/${name}`] = { version, ...platformOf(name), ...(dev ? { dev } : {}), optional: true };
  }
  const entries = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, "en"));
  writeFileSync(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(entries) }, null, 2)}\n`);
  console.log(`${missing.length} optional packages added.`);
}

/** `…-linux-arm-musleabihf` → os, cpu and libc, by which npm skips what is for other machines. */
function platformOf(name) {
  if (name.endsWith("-wasm32-wasi")) return { cpu: ["wasm32"] };
  const match = /-(android|darwin|freebsd|linux|openharmony|win32)-([a-z0-9]+)(?:-([a-z]+))?$/.exec(name);
  if (!match)
    throw new Error(`${name}: its platform can't be read off its name; install it where the registry has it.`);
  const [, os, cpu, abi = ""] = match;
  const libc = os !== "linux" ? {} : { libc: [abi.startsWith("musl") ? "musl" : "glibc"] };
  return { cpu: [cpu], os: [os], ...libc };
}
