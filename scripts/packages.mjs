/** What stands in node_modules: installed when needed, and checked against the pins. Node built-ins only. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { holdLock } from "./lock.mjs";
import { Problem, runChild } from "./run-child.mjs";

/**
 * Makes sure that the packages of `need` ("production" or "full") stand in node_modules as the lock file says; true if it
 * installed them.
 * Throws Problem when npm fails or installed something else than package.json pins.
 */
export async function ensurePackages(root, need) {
  if (isInstalled(root, need)) return false;
  mkdirSync(join(root, ".cache"), { recursive: true });
  const release = await holdLock(join(root, ".cache", "bootstrap.lock"), () =>
    say("another process is installing the packages; waiting for it"),
  );
  try {
    if (isInstalled(root, need)) return false;
    await install(root, need === "full" || hasDevPackages(root) ? "full" : "production");
    return true;
  } finally {
    release();
  }
}

function isInstalled(root, need) {
  const stamp = readJson(stampOf(root));
  if (stamp?.lock === hashOfLock(root) && (stamp.mode === "full" || need === "production")) {
    return wrongVersions(root, stamp.mode).length === 0;
  }
  // Installed by hand with npm: as good, if it is what the lock file says.
  const mode = ["full", need].find((each) => agreesWithLock(root, each) && wrongVersions(root, each).length === 0);
  if (mode) writeStamp(root, mode);
  return mode !== undefined;
}

async function install(root, mode) {
  say("installing packages, some 20 to 60 s");
  const startedAt = Date.now();
  const scope = mode === "full" ? "--include=dev" : "--omit=dev";
  // Spelled out, since NODE_ENV=production or a user's .npmrc would leave out what is needed.
  const args = ["ci", scope, "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"];
  const [command, ...before] = npmCommand();
  const { code, signal, output } = await runChild(command, [...before, ...args], { cwd: root, quiet: true });
  if (signal) throw new Problem(`stopped by ${signal} while installing packages`);
  if (code !== 0) throw new Problem(`npm ${args.join(" ")} failed (exit code ${code}):\n${output.trim()}`);
  const wrong = wrongVersions(root, mode);
  if (wrong.length > 0) {
    const lines = wrong.map(({ name, pinned, found }) => `  ${name} ${found ?? "is missing"}; pinned is ${pinned}`);
    throw new Problem(
      `npm did not install what package.json pins:\n${lines.join("\n")}\n` +
        "package-lock.json was probably written by npm on an older Node.js, where npm quietly takes older versions.\n" +
        "Restore it (git checkout package-lock.json) and try again.",
    );
  }
  writeStamp(root, mode);
  say(`packages installed in ${Math.round((Date.now() - startedAt) / 1000)} s`);
}

/** The npm that started us, so that it runs on the same Node; else the one in PATH. */
export function npmCommand() {
  const running = process.env.npm_execpath;
  return running?.endsWith("npm-cli.js") && existsSync(running) ? [process.execPath, running] : ["npm"];
}

/** Direct dependencies whose installed version is not the pinned one. */
function wrongVersions(root, mode) {
  const { dependencies, devDependencies, optionalDependencies } = readJson(join(root, "package.json"));
  const packagedNode = `node-${process.platform}-${process.arch}`;
  const pins = {
    ...dependencies,
    ...(mode === "full" ? devDependencies : {}),
    ...(optionalDependencies?.[packagedNode] ? { [packagedNode]: optionalDependencies[packagedNode] } : {}),
  };
  return Object.entries(pins)
    .map(([name, pinned]) => ({ name, pinned, found: installedVersion(root, name) }))
    .filter(({ pinned, found }) => versionIn(pinned) !== found);
}

/** A package under another name is pinned as `npm:<name>@<version>`. */
function versionIn(pinned) {
  return pinned.startsWith("npm:") ? pinned.slice(pinned.lastIndexOf("@") + 1) : pinned;
}

/** Whether npm's record of what it installed names every package that the lock file asks for. */
function agreesWithLock(root, mode) {
  const wanted = readJson(join(root, "package-lock.json"))?.packages ?? {};
  const installed = readJson(join(root, "node_modules", ".package-lock.json"))?.packages;
  if (!installed) return false;
  return Object.entries(wanted)
    .filter(([path, entry]) => path !== "" && !entry.optional && !entry.devOptional)
    .filter(([, entry]) => mode === "full" || !entry.dev)
    .every(([path, { version }]) => installed[path]?.version === version);
}

function hasDevPackages(root) {
  const { devDependencies = {} } = readJson(join(root, "package.json"));
  return Object.keys(devDependencies).some((name) => installedVersion(root, name) !== undefined);
}

function installedVersion(root, name) {
  return readJson(join(root, "node_modules", name, "package.json"))?.version;
}

function stampOf(root) {
  return join(root, "node_modules", ".colloquy-stamp");
}

function writeStamp(root, mode) {
  writeFileSync(stampOf(root), `${JSON.stringify({ lock: hashOfLock(root), mode })}\n`);
}

function hashOfLock(root) {
  try {
    return createHash("sha256")
      .update(readFileSync(join(root, "package-lock.json")))
      .digest("hex");
  } catch (cause) {
    throw new Problem(`package-lock.json can't be read: ${cause.message}`, { cause });
  }
}

/** undefined if there is no such file, or only half of one. */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** On stderr: a command's own output stays clean. */
function say(text) {
  process.stderr.write(`colloquy: ${text}\n`);
}
