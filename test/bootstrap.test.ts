import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, test } from "node:test";

const root = join(import.meta.dirname, "..");
const folders: string[] = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

type Installed = Record<string, string>;

/**
 * A checkout with our bootstrap, one dependency and one development dependency, and a stand-in for npm: it
 * notes how it was called, takes a moment, and installs what `npm.json` says.
 */
function checkout(options: { readonly installs?: Installed; readonly npmFails?: boolean } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-bootstrap-"));
  folders.push(folder);
  cpSync(join(root, "scripts"), join(folder, "scripts"), { recursive: true });
  cpSync(join(root, "colloquy"), join(folder, "colloquy"));
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src", "cli.ts"), program);
  cpSync(join(folder, "src", "cli.ts"), join(folder, "scripts", "check.mjs"));
  writeJson(folder, "package.json", { type: "module", dependencies: { a: "1.0.0" }, devDependencies: { b: "1.0.0" } });
  writeLock(folder, "1.0.0");
  writeJson(folder, "npm.json", { installs: { a: "1.0.0", b: "1.0.0", ...options.installs }, fails: options.npmFails });
  writeFileSync(join(folder, "npm-cli.js"), npm);
  return folder;
}

const program = `
const [how, code] = process.argv.slice(2);
if (how === "wait") {
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => (console.log(signal), process.exit(7)));
  setInterval(() => {}, 1000);
}
console.log(JSON.stringify({ args: process.argv.slice(2), folder: process.cwd() }));
if (how === "exit") process.exit(Number(code));
`;

const npm = `
import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
const home = import.meta.dirname;
const { installs, fails, refused = [] } = JSON.parse(readFileSync(home + "/npm.json", "utf8"));
const place = relative(home, process.cwd());
const packaged = relative(home, process.argv0).startsWith(".cache/node/");
const cache = process.env.npm_config_cache?.startsWith(home) ? " with its cache in " + relative(home, process.env.npm_config_cache) : "";
const told = process.argv.slice(2).join(" ") + (place && " in " + place) + (packaged ? " on the packaged Node.js" : "") + cache;
appendFileSync(home + "/npm.log", told + "\\n");
rmSync("node_modules", { recursive: true, force: true });
if (place) {
  const [name] = Object.keys(JSON.parse(readFileSync("package-lock.json", "utf8")).packages[""].dependencies);
  mkdirSync("node_modules/" + name + "/bin", { recursive: true });
  symlinkSync(process.execPath, "node_modules/" + name + "/bin/node");
  process.exit();
}
await new Promise((resolve) => setTimeout(resolve, 200));
if (fails === "when stopped") {
  process.once("SIGTERM", () => (console.error("npm error process terminated"), process.exit(1)));
  writeFileSync("npm.waits", "");
  await new Promise((resolve) => setTimeout(resolve, 60_000));
}
if (fails) {
  console.error("npm error the registry is on fire");
  process.exit(1);
}
const wanted = Object.entries(installs)
  .filter(([name]) => name !== "b" || !process.argv.includes("--omit=dev"))
  .filter(([name]) => packaged || !refused.includes(name));
for (const [name, version] of wanted) {
  mkdirSync("node_modules/" + name, { recursive: true });
  writeFileSync("node_modules/" + name + "/package.json", JSON.stringify({ name, version }));
}
`;

function writeJson(folder: string, file: string, value: unknown): void {
  writeFileSync(join(folder, file), JSON.stringify(value));
}

function writeLock(folder: string, version: string): void {
  const packages = { "": {}, "node_modules/a": { version: "1.0.0" }, "node_modules/b": { version, dev: true } };
  writeJson(folder, "package-lock.json", { packages });
}

const packagedNode = `node-${process.platform}-${process.arch}`;

/** A package for this machine that the running Node.js is too old for, as its \`engines\` say. */
function addNative(folder: string, engines: string, installs: Installed = { native: "2.0.0" }): void {
  const here = { os: [process.platform], cpu: [process.arch], optional: true };
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  Object.assign(packages, {
    "node_modules/native": { version: "2.0.0", engines: { node: engines }, ...here },
    "node_modules/foreign": { version: "2.0.0", ...here, os: ["plan9"] },
    "node_modules/other-libc": { version: "2.0.0", ...here, libc: ["uclibc"] },
    [`node_modules/${packagedNode}`]: { version: "24.0.0", ...here },
  });
  writeJson(folder, "package-lock.json", { packages });
  writeJson(folder, "npm.json", {
    installs: { a: "1.0.0", b: "1.0.0", [packagedNode]: "24.0.0", ...installs },
    refused: engines === tooNew ? ["native"] : [],
  });
}

const tooNew = "^1.2.3 || >= 99";

type Running = {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; out: string; err: string }>;
};

const start = (folder: string, ...args: string[]) => startWith({}, folder, ...args);

function startWith(own: NodeJS.ProcessEnv, folder: string, ...args: string[]): Running {
  const env = { ...process.env, npm_execpath: join(folder, "npm-cli.js"), ...own };
  const child = spawn(process.execPath, [join(folder, "scripts", "bootstrap.mjs"), ...args], { cwd: tmpdir(), env });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (err += chunk));
  return { child, ended: once(child, "close").then(([code]) => ({ code, out, err })) };
}

const run = (folder: string, ...args: string[]) => start(folder, ...args).ended;

function npmCalls(folder: string): string[] {
  return readFileSync(join(folder, "npm.log"), "utf8").trim().split("\n");
}

test("installs what the command needs, once, and hands on arguments, folder, output and exit code", async () => {
  const folder = checkout();
  const first = await run(folder, "cli", "exit", "3");
  assert.equal(first.code, 3);
  assert.deepEqual(JSON.parse(first.out), { args: ["exit", "3"], folder: tmpdir() });
  assert.match(first.err, /^colloquy: installing packages, some 20 to 60 s\ncolloquy: packages installed in \d+ s\n$/);
  const second = await run(folder, "start");
  assert.deepEqual(JSON.parse(second.out).args, ["serve"]);
  assert.equal(second.err, "");
  assert.deepEqual(npmCalls(folder), [
    "ci --omit=dev --include=optional --ignore-scripts --no-audit --no-fund --loglevel=error",
  ]);
});

test("a full installation stays full", async () => {
  const folder = checkout();
  await run(folder, "cli");
  await run(folder, "check");
  await run(folder, "cli");
  writeLock(folder, "1.0.0 ");
  assert.equal((await run(folder, "cli")).code, 0);
  assert.deepEqual(
    npmCalls(folder).map((line) => line.split(" ")[1]),
    ["--omit=dev", "--include=dev", "--include=dev"],
  );
});

test("what npm installed by hand is taken, if it is what the lock file says", async () => {
  const folder = checkout();
  await run(folder, "check");
  rmSync(join(folder, "node_modules", ".colloquy-stamp"));
  const packages = { "node_modules/a": { version: "1.0.0" }, "node_modules/b": { version: "1.0.0" } };
  writeJson(folder, "node_modules/.package-lock.json", { packages });
  assert.equal((await run(folder, "check")).err, "");
  assert.equal(npmCalls(folder).length, 1);
});

test("a failing npm is shown, and the next start tries again", async () => {
  const folder = checkout({ npmFails: true });
  const { code, err } = await run(folder, "cli");
  assert.equal(code, 1);
  assert.match(err, /npm ci .* failed \(exit code 1\):\nnpm error the registry is on fire/);
  writeJson(folder, "npm.json", { installs: { a: "1.0.0" } });
  assert.equal((await run(folder, "cli")).code, 0);
});

test("another version than the pinned one is refused, with what to do", async () => {
  const folder = checkout({ installs: { a: "0.9.0" } });
  const { code, err } = await run(folder, "cli");
  assert.equal(code, 1);
  assert.match(err, /a 0\.9\.0; pinned is 1\.0\.0\n.*older Node\.js.*\n.*git checkout package-lock\.json/s);
});

const install = "ci --omit=dev --include=optional --ignore-scripts --no-audit --no-fund --loglevel=error";

test("npm runs on the packaged Node.js if a package for this machine refuses the running one", async () => {
  const folder = checkout();
  addNative(folder, tooNew);
  const { code, err } = await run(folder, "cli");
  assert.equal(code, 0, err);
  assert.match(err, /packages need a newer Node\.js than v\S+: fetching 24\.0\.0/);
  assert.match(npmCalls(folder)[0]!, /^ci .* in \.cache\/node$/);
  assert.deepEqual(npmCalls(folder).slice(1), [`${install} on the packaged Node.js`]);
  assert.equal(existsSync(join(folder, ".cache", "node")), false);
  assert.equal((await run(folder, "cli")).err, "");
});

test("npm runs on the Node.js that is there if all packages take it", async () => {
  const folder = checkout();
  addNative(folder, `>=99 || ^${process.versions.node}`);
  assert.equal((await run(folder, "cli")).code, 0);
  assert.deepEqual(npmCalls(folder), [install]);
});

for (const by of ["us", "hand"]) {
  test(`a package for this machine that is missing after an installation by ${by} is installed`, async () => {
    const folder = checkout();
    addNative(folder, "*");
    await run(folder, "cli");
    rmSync(join(folder, "node_modules", "native"), { recursive: true });
    if (by === "hand") {
      rmSync(join(folder, "node_modules", ".colloquy-stamp"));
      writeJson(folder, "node_modules/.package-lock.json", { packages: { "node_modules/a": { version: "1.0.0" } } });
    }
    assert.equal((await run(folder, "cli")).code, 0);
    assert.equal(existsSync(join(folder, "node_modules", "native")), true);
    assert.deepEqual(npmCalls(folder), [install, install]);
  });
}

test("a package for this machine that npm can't bring is told once, and all else goes on", async () => {
  const folder = checkout();
  addNative(folder, "*", {});
  const { code, err } = await run(folder, "cli");
  assert.equal(code, 0);
  assert.match(err, /npm left out native 2\.0\.0.*\n/);
  assert.equal((await run(folder, "cli")).err, "");
});

test("a signal while packages are installed is told as such, and the next start installs them", async () => {
  const folder = checkout();
  const { installs } = JSON.parse(readFileSync(join(folder, "npm.json"), "utf8"));
  writeJson(folder, "npm.json", { installs, fails: "when stopped" });
  const { child, ended } = start(folder, "cli");
  const watcher = watch(folder, (_event, name) => name === "npm.waits" && child.kill("SIGTERM"));
  const { code, err } = await ended;
  watcher.close();
  assert.equal(code, 1);
  assert.match(err, /\ncolloquy: the installation of packages was stopped by SIGTERM; the next start does it again\n$/);
  writeJson(folder, "npm.json", { installs });
  assert.equal((await run(folder, "cli")).code, 0);
});

test("without a home folder that can be written, npm keeps its cache here", async () => {
  const folder = checkout();
  const env = { HOME: "/dev/null/home", npm_config_cache: "/dev/null/home/.npm" };
  assert.equal((await startWith(env, folder, "cli").ended).code, 0);
  assert.deepEqual(npmCalls(folder), [`${install} with its cache in .cache/npm`]);
});

test("two at once install once, and a lock left by a dead process is passed over", async () => {
  const folder = checkout();
  mkdirSync(join(folder, ".cache"));
  const dead = start(checkout(), "cli");
  await dead.ended;
  writeFileSync(join(folder, ".cache", "bootstrap.lock"), String(dead.child.pid));
  const ended = await Promise.all([run(folder, "cli"), run(folder, "cli"), run(folder, "cli")]);
  assert.deepEqual(
    ended.map(({ code }) => code),
    [0, 0, 0],
  );
  assert.equal(npmCalls(folder).length, 1);
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`${signal} reaches the program, whose exit code comes back`, async () => {
    const folder = checkout();
    await run(folder, "cli");
    const { child, ended } = start(folder, "cli", "wait");
    await once(child.stdout!, "data");
    child.kill(signal);
    const { code, out } = await ended;
    assert.equal(code, 7);
    assert.match(out, new RegExp(`${signal}\n$`));
  });
}

test("./colloquy is the same, from anywhere and through a link", async () => {
  const folder = checkout();
  await run(folder, "cli");
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}` };
  const child = spawn(join(folder, "colloquy"), ["exit", "4"], { cwd: tmpdir(), env });
  const [code] = await once(child, "close");
  assert.equal(code, 4);
});

test("an unknown command is refused", async () => {
  const { code, err } = await run(checkout(), "constructor");
  assert.equal(code, 1);
  assert.match(err, /^colloquy: usage: bootstrap\.mjs <start \| cli/);
});
