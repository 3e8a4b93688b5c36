#!/usr/bin/env node
/**
 * The way into everything: `node scripts/bootstrap.mjs <command> [arguments]`.
 * Runs on Node >= 18 with nothing installed: installs the packages when needed, then runs the command on the pinned Node.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { tooLittleMemory } from "./memory.mjs";
import { ensurePackages } from "./packages.mjs";
import { pageHashes } from "./page-hash.mjs";
import { endedBy, Problem, runChild } from "./run-child.mjs";
import { ensureSystem, offerForServer } from "./system.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

// `page`: the web page is built when its sources have changed. `system`: also what the tests need from the machine (system.mjs); `offers`: tells what a server would have use for. `database`: what a first start copies is made, once.
const commands = {
  start: {
    packages: "production",
    ...{ offers: true, page: true, database: true, serves: true },
    script: "src/cli.ts",
    args: ["serve"],
  },
  cli: { packages: "production", script: "src/cli.ts" },
  check: { packages: "full", script: "scripts/check.mjs" },
  test: { packages: "full", system: true, page: true, script: "scripts/test.mjs" },
  "test:long": { packages: "full", system: true, page: true, script: "scripts/test.mjs", args: ["--long"] },
  "test:all": { packages: "full", system: true, page: true, script: "scripts/test.mjs", args: ["--all"] },
  bench: { packages: "full", system: true, script: "bench/run.ts" },
  chaos: { packages: "full", system: true, script: "chaos/run.ts" },
  mutate: { packages: "full", system: true, script: "mutation/run.ts" },
  words: {
    packages: "full",
    script: "node_modules/@lingui/cli/dist/lingui.js",
    args: ["extract", "--clean", "--config", "web/lingui.config.ts"],
  },
  "taiga:dev": { packages: "production", script: "test/taiga/dev.ts" },
};

async function main([name, ...rest]) {
  const command = Object.hasOwn(commands, name ?? "") ? commands[name] : undefined;
  if (!command) throw new Problem(`usage: bootstrap.mjs <${Object.keys(commands).join(" | ")}> [arguments]`);
  if (majorOf(process.version) < 18) {
    throw new Problem(`Node.js 18 or newer is needed to begin; this is ${process.version}.`);
  }
  if (command.offers) tellMemory();
  const isNew = await ensurePackages(root, command.packages);
  const leaveOut = command.system ? await ensureSystem() : {};
  if (command.offers) offerForServer({ isNew });
  if (command.page) await buildPage();
  if (command.database) await prepareDatabase();
  const args = ["--disable-warning=ExperimentalWarning", join(root, command.script), ...(command.args ?? []), ...rest];
  // Stripping types and compiling again at every start costs 40 % of the start's CPU and 20 MB.
  const env = {
    NODE_COMPILE_CACHE: join(root, ".cache", "compile"),
    // With an arena for each thread, what one frees lies idle while the next asks the system for more.
    ...(command.serves ? { MALLOC_ARENA_MAX: "1" } : {}),
    ...process.env,
    ...leaveOut,
  };
  const { code, signal } = await runChild(nodeToRunOn(), args, { env });
  if (signal === "SIGKILL") say(endedBy(signal, "Colloquy"));
  return code;
}

function tellMemory() {
  const isSetUp = [
    ["node_modules", ".colloquy-stamp"],
    [".cache", "page", "hash"],
  ].every((path) => existsSync(join(root, ...path)));
  const tooLittle = tooLittleMemory({ isFirst: !isSetUp });
  if (tooLittle !== undefined) say(tooLittle);
}

/** One thread of each kind, and memory given back at once: 620 MB instead of 1,130, and no slower on two cores. */
const smallBuild = {
  ...{ RAYON_NUM_THREADS: "1", ROLLDOWN_WORKER_THREADS: "1", ROLLDOWN_MAX_BLOCKING_THREADS: "1" },
  ...{ MIMALLOC_PURGE_DELAY: "0", MIMALLOC_EAGER_COMMIT: "0", MIMALLOC_ARENA_EAGER_COMMIT: "0", MALLOC_ARENA_MAX: "1" },
};

/** A page that does not build is told, and the server goes on with the last one, or without. */
async function buildPage() {
  if (!existsSync(join(root, "web"))) return;
  const { wanted, built } = pageHashes(root);
  if (built === wanted) return;
  const args = ["--max-semi-space-size=2", join(root, "scripts", "build-page.mjs")];
  const { code, signal } = await runChild(nodeToRunOn(), args, { env: { ...smallBuild, ...process.env } });
  if (code === 0) return;
  if (signal && signal !== "SIGKILL") throw new Problem(endedBy(signal, "the page's build"));
  if (signal) say(endedBy(signal, "the page's build"));
  if (process.env.CI) throw new Problem("the page does not build");
  const hasLast = existsSync(join(root, ".cache", "page", "index.html"));
  const what = hasLast ? "with the page that was built before" : "without the page (the API works all the same)";
  say(`going on ${what}; the next start builds it again`);
}

/** Only in a new checkout: whoever has a database needs none to begin with. Without it, a first start makes its own. */
async function prepareDatabase() {
  const program = join(root, "src", "cli", "prepare-database.ts");
  if (existsSync(join(root, ".cache", "database")) || !existsSync(program)) return;
  const { signal } = await runChild(nodeToRunOn(), ["--disable-warning=ExperimentalWarning", program], {});
  if (signal && signal !== "SIGKILL") throw new Problem(endedBy(signal, "the set-up of the database"));
}

/** The packaged Node 24; on a platform without a package, this one if it is new enough. */
function nodeToRunOn() {
  const packaged = join(root, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
  if (existsSync(packaged)) return packaged;
  if (majorOf(process.version) >= 24) return process.execPath;
  throw new Problem(
    `Colloquy runs on Node.js 24. This is ${process.version}, and no packaged Node.js is installed for ` +
      `${process.platform} ${process.arch}: install Node.js 24 or newer and try again.`,
  );
}

function say(text) {
  process.stderr.write(`colloquy: ${text}\n`);
}

function majorOf(version) {
  return Number(/^v?(\d+)/.exec(version)[1]);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const isOurs = error instanceof Problem;
  if (!isOurs && !["EACCES", "EPERM", "EROFS"].includes(error.code)) throw error;
  const advice = `. What is to be installed goes into ${root}: start once as a user who can write there, or work in a copy of your own`;
  say(`${error.message}${isOurs ? "" : advice}`);
  process.exitCode = 1;
}
