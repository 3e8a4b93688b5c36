/**
 * Runs the tests: `*.test.ts`, with `--long` the `*.long.test.ts`, with `--all` both of them, whole. Arguments with a dash go to Node's runner,
 * the others choose files whose path contains one of them: `npm test -- config --test-name-pattern=port`.
 */
import { spawn } from "node:child_process";
import { createHash, randomInt } from "node:crypto";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { isPageSeen } from "../test/page-hash.ts";
import { ensureInspector } from "./inspector.mjs";
import { Problem, runChild } from "./run-child.mjs";

const root = dirname(import.meta.dirname);
const args = process.argv.slice(2);
const all = args.includes("--all");
const long = all || args.includes("--long");
const flags = args.filter((arg) => arg.startsWith("-") && arg !== "--long" && arg !== "--all");
const filters = args.filter((arg) => !arg.startsWith("-"));

const slow = JSON.parse(readFileSync(join(import.meta.dirname, "slow-tests.json"), "utf8"));
// Samples and what is made by chance are the same again with the same seed.
const seed = process.env.COLLOQUY_TEST_SEED ?? String(randomInt(2 ** 32));
const found = globSync("{src,test,web,bench}/**/*.test.ts", { cwd: root, exclude: (name) => name === "node_modules" })
  .filter((file) => all || file.endsWith(".long.test.ts") === long)
  .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
  .sort();
const files = long && !all && filters.length === 0 && isPageSeen() ? withHalfOfPage(found) : found;

if (files.length === 0) {
  process.stderr.write(`No test file matches ${filters.join(" ") || (long ? "*.long.test.ts" : "*.test.ts")}.\n`);
  process.exit(1);
}

if (!all) console.log(`COLLOQUY_TEST_SEED=${seed}`);
const inspector = await inspectorFor(files);
const postgres = await sharedPostgres();
const { code } = await runChild(
  process.execPath,
  [
    "--disable-warning=ExperimentalWarning",
    join(import.meta.dirname, "run-files.mjs"),
    JSON.stringify({
      files: [...files].sort((a, b) => secondsOf(b) - secondsOf(a)),
      // Two more than there are processors: with one more, a third of the CPU was idle while tests waited for processes and time-outs.
      concurrency: availableParallelism() + 2,
      execArgv: [
        "--disable-warning=ExperimentalWarning",
        `--import=${join(import.meta.dirname, "test-limit.mjs")}`,
        `--import=${join(root, "test/answers/watch-answers.ts")}`,
        ...flags,
      ],
      tallyFile: process.env.COLLOQUY_TEST_TALLY,
    }),
  ],
  {
    cwd: root,
    env: {
      ...process.env,
      ...inspector,
      ...postgres.env,
      COLLOQUY_TEST_SEED: seed,
      ...(all ? { COLLOQUY_TEST_ALL: "1" } : {}),
      COLLOQUY_TEST_FILE_SECONDS: long ? "1800" : "120",
      // A test that runs tests must not write there too.
      COLLOQUY_TEST_TALLY: undefined,
    },
  },
);
postgres.stop();
process.exitCode = code;

/**
 * While the page is what it was when all of it was looked at, half of its long suites, which the seed picks, show whether the rest
 * still serves it.
 */
function withHalfOfPage(suites) {
  const lotOf = (file) => createHash("sha256").update(`${seed} ${file}`).digest("hex");
  const page = suites
    .filter((file) => file.startsWith("web/"))
    .sort((one, other) => (lotOf(one) < lotOf(other) ? -1 : 1));
  const left = new Set(page.slice(Math.ceil(page.length / 2)));
  console.log(`${left.size} of the page's ${page.length} suites are left to another seed.`);
  return suites.filter((file) => !left.has(file));
}

/** As in the last lines of .ci/run, where it took long; copied by hand when they have changed much. */
function secondsOf(file) {
  return Number(slow[file.replace(/\.test\.ts$/, "")] ?? 0);
}

/** Starting one takes a second of CPU, and half a hundred files need one. Long tests stop and change theirs. */
async function sharedPostgres() {
  const { COLLOQUY_TEST_POSTGRES: given, COLLOQUY_TEST_DATABASES: kinds = "postgres" } = process.env;
  if (long || given || !kinds.includes("postgres")) return { env: {}, stop: () => {} };
  const server = spawn(process.execPath, [join(root, "test", "shared-postgres.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await Promise.race([once(server.stdout, "data"), once(server, "exit")]);
  const url = String(line).trim();
  // Without it each file starts its own, or says what is missing.
  return { env: url.startsWith("postgres:") ? { COLLOQUY_TEST_POSTGRES: url } : {}, stop: () => server.stdin.end() };
}

async function inspectorFor(chosen) {
  if (process.env.MCP_INSPECTOR || !chosen.some((file) => file.includes("mcp-inspector"))) return {};
  try {
    const program = await ensureInspector(root);
    return program === undefined ? {} : { MCP_INSPECTOR: program };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    process.stderr.write(`colloquy: ${error.message}\n`);
    process.exit(1);
  }
}
