import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const root = join(import.meta.dirname, "..");
const folders: string[] = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

/** A checkout with our bootstrap and a page, whose packages are installed: none. The server only says that it was started. */
function checkout(): string {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-first-start-"));
  folders.push(folder);
  for (const name of ["src", "web", "node_modules"]) mkdirSync(join(folder, name));
  cpSync(join(root, "scripts"), join(folder, "scripts"), { recursive: true });
  writeFileSync(join(folder, "src", "cli.ts"), "console.log(process.argv.slice(2).join(' '));");
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
  writeFileSync(join(folder, "package-lock.json"), `{ "packages": {} }`);
  writeFileSync(join(folder, "node_modules", ".package-lock.json"), `{ "packages": {} }`);
  writeFileSync(join(folder, "web", "index.html"), "<title>Colloquy</title>");
  writeFileSync(
    join(folder, "web", "vite.config.ts"),
    `export default { root: import.meta.dirname, logLevel: "error" };`,
  );
  return folder;
}

type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

type How = { readonly uid?: number; readonly gid?: number; readonly within?: readonly string[] };

async function start(folder: string, { within = [], ...who }: How = {}): Promise<Ended> {
  const { CI: _, ...env } = process.env;
  const command = [...within, process.execPath, join(folder, "scripts", "bootstrap.mjs"), "start"];
  const child = spawn(command[0]!, command.slice(1), {
    cwd: folder,
    env,
    ...who,
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (err += chunk));
  const [code] = await once(child, "close");
  return { code, out, err };
}

test("a page that does not build is told in two lines; the server starts, and the next start builds it", async () => {
  const folder = checkout();
  const first = await start(folder);
  assert.equal(first.code, 0);
  assert.equal(first.out, "serve\n");
  const lines = first.err.trimEnd().split("\n");
  assert.equal(lines.length, 3, first.err);
  assert.match(lines[1]!, /^colloquy: the page can't be built: Cannot find package 'vite' imported from /);
  assert.match(lines[2]!, /going on without the page.*next start/);
  symlinkSync(join(root, "node_modules", "vite"), join(folder, "node_modules", "vite"));
  const { pid } = spawnSync(process.execPath, ["-v"]);
  mkdirSync(join(folder, ".cache", `page.${pid}`), { recursive: true });
  const second = await start(folder);
  assert.equal(second.err, "colloquy: building the page, some seconds\n");
  assert.equal(existsSync(join(folder, ".cache", "page", "index.html")), true);
  assert.equal(existsSync(join(folder, ".cache", `page.${pid}`)), false, "a killed build leaves nothing for long");
  writeFileSync(join(folder, "web", "index.html"), `<script type="module" src="./gone.ts"></script>`);
  assert.match((await start(folder)).err, /going on with the page that was built before.*next start/);
});

test("a signal while the page is built ends the start", async () => {
  const folder = checkout();
  writeFileSync(
    join(folder, "web", "vite.config.ts"),
    `console.log("at work"); setInterval(() => {}, 1000); await new Promise(() => {});`,
  );
  symlinkSync(join(root, "node_modules", "vite"), join(folder, "node_modules", "vite"));
  const child = spawn(process.execPath, [join(folder, "scripts", "bootstrap.mjs"), "start"], { cwd: folder });
  let out = "";
  let err = "";
  child.stderr.on("data", (chunk) => (err += chunk));
  child.stdout.on("data", (chunk) => {
    out += chunk;
    child.kill("SIGTERM");
  });
  const [code] = await once(child, "close");
  assert.equal(code, 1);
  assert.equal(out, "at work\n");
  assert.match(err, /\ncolloquy: the page's build was stopped by SIGTERM; the next start does it again\n$/);
});

test("what is killed is told with the likely reason, and its exit code is a shell's", async () => {
  const folder = checkout();
  const kill = 'process.kill(process.pid, "SIGKILL");';
  writeFileSync(join(folder, "src", "cli.ts"), kill);
  writeFileSync(join(folder, "web", "vite.config.ts"), kill);
  symlinkSync(join(root, "node_modules", "vite"), join(folder, "node_modules", "vite"));
  const { code, err } = await start(folder);
  assert.equal(code, 137);
  assert.match(err, /colloquy: the page's build was killed \(SIGKILL\), as Linux does when memory runs out.*\n/);
  assert.match(err, /colloquy: Colloquy was killed \(SIGKILL\), as Linux does when memory runs out.*\n$/);
});

/** A control group with this much memory, as a container has; undefined where none can be made. */
function memoryGroup(megabytes: number): string | undefined {
  for (const [mount, limit] of [
    ["/sys/fs/cgroup/memory", "memory.limit_in_bytes"],
    ["/sys/fs/cgroup", "memory.max"],
  ] as const) {
    const group = join(mount, `colloquy-test-${process.pid}`);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    try {
      writeFileSync(join(group, limit), String(megabytes * 1024 * 1024));
      return group;
    } catch {
      rmdirSync(group);
    }
  }
  return undefined;
}

test("a start with too little memory says beforehand how much it wants", async (t) => {
  const group = memoryGroup(400);
  if (group === undefined) return t.skip("no control group can be made here");
  t.after(() => rmdirSync(group));
  const folder = checkout();
  rmSync(join(folder, "web"), { recursive: true });
  const { err } = await start(folder, { within: ["sh", "-c", `echo $$ > ${group}/cgroup.procs && exec "$@"`, "sh"] });
  assert.match(err, /^colloquy: Colloquy's first start needs about 800 MB of memory.* 3\d\d MB are available/);
});

const nobody = { uid: 65_534, gid: 65_534 };
const skip = spawnSync(process.execPath, ["-v"], nobody).status === 0 ? false : "only root can become somebody else";

test("who may not write the folder is told so when packages are to be installed", { skip }, async () => {
  const folder = checkout();
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, "package.json"), `{ "type": "module", "dependencies": { "gone": "1.0.0" } }`);
  const { code, err } = await start(folder, nobody);
  assert.equal(code, 1);
  assert.match(err, /^colloquy: EACCES: permission denied, mkdir '[^\n]* a user who can write there[^\n]*\n$/);
});

test("who may not write the folder starts what stands in it", { skip }, async () => {
  const folder = checkout();
  chmodSync(folder, 0o755);
  const first = await start(folder, nobody);
  assert.equal(first.code, 0);
  assert.equal(first.out, "serve\n");
  assert.doesNotMatch(first.err, /\n +at /);
  symlinkSync(join(root, "node_modules", "vite"), join(folder, "node_modules", "vite"));
  const second = await start(folder, nobody);
  assert.equal(second.code, 0);
  assert.match(second.err, /the page can't be built: EACCES: .* a user who can write .*\n.*going on without the page/);
  await start(folder);
  assert.deepEqual(await start(folder, nobody), { code: 0, out: "serve\n", err: "" });
});
