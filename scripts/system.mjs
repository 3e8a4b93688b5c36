/** What tests need from the machine beside npm packages: installed by apt as root on Debian and Ubuntu, else named. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { Problem, runChild } from "./run-child.mjs";

const requirements = [
  {
    name: "the PostgreSQL server's programs (15 or newer)",
    suites: "the suites on PostgreSQL (PGlite's still run)",
    leaveOut: { COLLOQUY_TEST_DATABASES: "pglite" },
    isThere: hasPostgres,
    packages: ["postgresql"],
    // Tests start servers of their own: the package must not leave a running one behind.
    prepare: () => write("/etc/postgresql-common/createcluster.d/colloquy.conf", "create_main_cluster = false\n"),
  },
  {
    name: "curl",
    suites: "the documentation's examples with curl",
    leaveOut: { COLLOQUY_TEST_CURL: "no" },
    isThere: () => isInPath("curl"),
    packages: ["curl"],
  },
];

/**
 * Installs what is missing where it may, and says what stays missing; in CI that is a failure. Returns the variables
 * by which the tests leave out what needs it.
 */
export async function ensureSystem() {
  const missing = requirements.filter(({ isThere }) => !isThere());
  if (missing.length === 0) return {};
  const trouble = isRootOnDebian() ? await installByApt(missing) : undefined;
  const stillMissing = missing.filter(({ isThere }) => !isThere());
  if (stillMissing.length === 0) return {};
  const lines = stillMissing.map(
    ({ name, suites, packages }) =>
      `  missing: ${name}; left out: ${suites}\n           on Debian or Ubuntu: apt-get install ${packages.join(" ")}`,
  );
  const text = [`not everything that the tests need is installed:`, ...lines, ...(trouble ? [trouble] : [])].join("\n");
  if (process.env.CI) throw new Problem(text);
  process.stderr.write(`colloquy: ${text}\n`);
  return Object.assign({}, ...stillMissing.map(({ leaveOut }) => leaveOut));
}

/** Returns the end of apt's output if it failed. */
async function installByApt(missing) {
  const packages = missing.flatMap((each) => each.packages);
  process.stderr.write(`colloquy: installing ${packages.join(", ")} for the tests, about a minute\n`);
  for (const { prepare } of missing) prepare?.();
  const options = { quiet: true, env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } };
  const commands = [["update"], ["install", "--yes", "--no-install-recommends", ...packages]];
  for (const args of commands) {
    const { code, output } = await runChild("apt-get", ["-o", "DPkg::Lock::Timeout=120", ...args], options);
    if (code !== 0) return `apt-get ${args.join(" ")} failed (exit code ${code}):\n${output.trim()}`;
  }
  return undefined;
}

function isRootOnDebian() {
  if (process.getuid?.() !== 0 || !isInPath("apt-get")) return false;
  return /^ID(_LIKE)?=.*(debian|ubuntu)/m.test(read("/etc/os-release"));
}

function hasPostgres() {
  if (process.env.COLLOQUY_TEST_POSTGRES) return true;
  if (isInPath("initdb") && isInPath("postgres")) return true;
  const folder = "/usr/lib/postgresql";
  const versions = existsSync(folder) ? readdirSync(folder) : [];
  return versions.some((version) => Number(version) >= 15 && existsSync(join(folder, version, "bin", "initdb")));
}

function isInPath(program) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => folder && existsSync(join(folder, program)));
}

function read(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
