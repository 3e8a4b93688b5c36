/**
 * Runs the tests: `*.test.ts`, or with `--long` the `*.long.test.ts`. Arguments with a dash go to Node's runner,
 * the others choose files whose path contains one of them: `npm test -- config --test-name-pattern=port`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureInspector } from "./inspector.mjs";
import { Problem, runChild } from "./run-child.mjs";

const root = dirname(import.meta.dirname);
const args = process.argv.slice(2);
const long = args.includes("--long");
const flags = args.filter((arg) => arg.startsWith("-") && arg !== "--long");
const filters = args.filter((arg) => !arg.startsWith("-"));

const files = globSync("{src,test,web,bench}/**/*.test.ts", { cwd: root, exclude: (name) => name === "node_modules" })
  .filter((file) => file.endsWith(".long.test.ts") === long)
  .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
  .sort();

if (files.length === 0) {
  process.stderr.write(`No test file matches ${filters.join(" ") || (long ? "*.long.test.ts" : "*.test.ts")}.\n`);
  process.exit(1);
}

const inspector = await inspectorFor(files);
const postgres = await sharedPostgres();
const { code } = await runChild(
  process.execPath,
  [
    "--disable-warning=ExperimentalWarning",
    "--test",
    ...reporters(),
    // One more than there are processors: most tests wait for processes and sockets more than they compute. Long ones
    // start whole servers and browsers.
    `--test-concurrency=${Math.max(2, availableParallelism() + (long ? 0 : 1))}`,
    `--import=${join(import.meta.dirname, "test-limit.mjs")}`,
    `--import=${join(root, "test/answers/watch-answers.ts")}`,
    ...flags,
    ...files,
  ],
  {
    cwd: root,
    env: {
      ...process.env,
      ...inspector,
      ...postgres.env,
      COLLOQUY_TEST_FILE_SECONDS: long ? "1800" : "120",
      // A test that runs tests must not write there too.
      COLLOQUY_TEST_TALLY: undefined,
    },
  },
);
postgres.stop();
process.exitCode = code;

/** What people read; and in the file that `COLLOQUY_TEST_TALLY` names, what .ci/run adds up. */
function reporters() {
  const { COLLOQUY_TEST_TALLY: tally } = process.env;
  const spec = ["--test-reporter=spec", "--test-reporter-destination=stdout"];
  if (tally === undefined) return spec;
  const reporter = pathToFileURL(join(import.meta.dirname, "test-tally.mjs"));
  return [...spec, `--test-reporter=${reporter}`, `--test-reporter-destination=${tally}`];
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
