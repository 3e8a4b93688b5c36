/** What stands in node_modules: installed when needed, and checked against the pins. Node built-ins only. */
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { holdLock } from "./lock.mjs";
import { isInRange, nativePackages } from "./native-packages.mjs";
import { endedBy, Problem, runChild } from "./run-child.mjs";

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
    const missing = missingNatives(root, stamp.mode).filter(({ path }) => !stamp.without?.includes(path));
    return wrongVersions(root, stamp.mode).length === 0 && missing.length === 0;
  }
  // Installed by hand with npm: as good, if it is what the lock file says.
  const mode = ["full", need].find(
    (each) =>
      agreesWithLock(root, each) && wrongVersions(root, each).length === 0 && missingNatives(root, each).length === 0,
  );
  if (mode && canWrite(stampOf(root))) writeStamp(root, { mode });
  return mode !== undefined;
}

async function install(root, mode) {
  say("installing packages, some 20 to 60 s");
  const startedAt = Date.now();
  const scope = mode === "full" ? "--include=dev" : "--omit=dev";
  // Spelled out, since NODE_ENV=production or a user's .npmrc would leave out what is needed, or run what is not.
  const args = ["ci", scope, "--include=optional", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  try {
    await runNpm(args, { cwd: root, node: await newerNode(root, mode) });
  } finally {
    rmSync(nodeFolder(root), { recursive: true, force: true });
  }
  const wrong = wrongVersions(root, mode);
  if (wrong.length > 0) {
    const lines = wrong.map(({ name, pinned, found }) => `  ${name} ${found ?? "is missing"}; pinned is ${pinned}`);
    throw new Problem(
      `npm did not install what package.json pins:\n${lines.join("\n")}\n` +
        "package-lock.json was probably written by npm on an older Node.js, where npm quietly takes older versions.\n" +
        "Restore it (git checkout package-lock.json) and try again.",
    );
  }
  const missing = missingNatives(root, mode);
  if (missing.length > 0) {
    const list = missing.map(({ name, version }) => `${name} ${version}`).join(", ");
    say(
      `npm left out ${list}, so something may not work. Once the registry has it: rm -r node_modules, and start again`,
    );
  }
  writeStamp(root, { mode, without: missing.map(({ path }) => path) });
  say(`packages installed in ${Math.round((Date.now() - startedAt) / 1000)} s`);
}

/**
 * Where packages for this machine refuse the Node.js that runs: the one that the lock file names for it, fetched alone. On it npm
 * installs what it would leave out.
 */
async function newerNode(root, mode) {
  const lock = lockOf(root);
  const name = `node-${process.platform}-${process.arch}`;
  const entry = lock?.packages?.[`node_modules/${name}`];
  if (!entry || nativePackages(lock, mode).every(({ node }) => isInRange(process.version, node))) return undefined;
  say(`packages need a newer Node.js than ${process.version}: fetching ${entry.version} to install them`);
  const folder = nodeFolder(root);
  const own = { name: "colloquy-node", dependencies: { [name]: entry.version } };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...own, private: true }));
  // With the checksum of our own lock file.
  const packages = { "": own, [`node_modules/${name}`]: { ...entry, optional: undefined } };
  writeFileSync(
    join(folder, "package-lock.json"),
    JSON.stringify({ ...own, lockfileVersion: 3, requires: true, packages }),
  );
  await runNpm(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder });
  return join(folder, "node_modules", name, "bin");
}

function nodeFolder(root) {
  return join(root, ".cache", "node");
}

/** `node`: the folder of the Node.js that npm is to run on. */
async function runNpm(args, { cwd, node }) {
  const [command, ...before] = npmCommand(node);
  const path = node === undefined ? process.env.PATH : `${node}${delimiter}${process.env.PATH}`;
  const env = { ...process.env, PATH: path, npm_config_cache: npmCache(cwd) };
  const { code, signal, output } = await runChild(command, [...before, ...args], { cwd, env, quiet: true });
  if (signal) throw new Problem(endedBy(signal, "the installation of packages"));
  if (code !== 0) throw new Problem(`npm ${args.join(" ")} failed (exit code ${code}):\n${output.trim()}`);
}

/** npm's own cache; where this user can't write it, one in the folder that is installed into. */
function npmCache(folder) {
  const usual = process.env.npm_config_cache ?? join(homedir(), ".npm");
  return canWrite(usual) ? usual : join(folder, ".cache", "npm");
}

function canWrite(path) {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch (error) {
    return error.code === "ENOENT" && dirname(path) !== path && canWrite(dirname(path));
  }
}

/** The npm that started us, so that it runs on the same Node (or the one in the folder `node`); else the one in PATH. */
export function npmCommand(node) {
  const running = process.env.npm_execpath;
  if (!running?.endsWith("npm-cli.js") || !existsSync(running)) return ["npm"];
  return [node === undefined ? process.execPath : join(node, "node"), running];
}

/** Packages for this machine that are not there, or in another version. */
function missingNatives(root, mode) {
  return nativePackages(lockOf(root), mode).filter(
    ({ path, version }) => readJson(join(root, path, "package.json"))?.version !== version,
  );
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
  const wanted = lockOf(root)?.packages ?? {};
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

function writeStamp(root, what) {
  writeFileSync(stampOf(root), `${JSON.stringify({ lock: hashOfLock(root), ...what })}\n`);
}

function lockOf(root) {
  return readJson(join(root, "package-lock.json"));
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
