/**
 * What tests need from the machine beside npm packages: installed by apt as root on Debian and Ubuntu, else named. And what a
 * server there would have use for: only named.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Problem, runChild } from "./run-child.mjs";

/** For code that agents write: what keeps it from the machine, and what it works with. */
const sandbox = {
  name: "bubblewrap",
  suites: "commands in bubblewrap",
  leaveOut: {},
  isThere: () => isInPath("bwrap"),
  packages: ["bubblewrap"],
};
const python = {
  name: "Python with pandas, numpy, matplotlib and openpyxl",
  suites: "what Python code of agents does with them",
  leaveOut: {},
  isThere: () =>
    isInPath("python3") &&
    ["pandas", "numpy", "matplotlib", "openpyxl"].every((name) => existsSync(`/usr/lib/python3/dist-packages/${name}`)),
  packages: ["python3", "python3-pandas", "python3-numpy", "python3-matplotlib", "python3-openpyxl"],
};

/** For slides; with Marp, which npm installs. */
const chromium = {
  name: "Chromium",
  suites: "the page, and slides as PDF, PPTX and images",
  leaveOut: { COLLOQUY_TEST_CHROMIUM: "no" },
  isThere: () => isInPath("chromium"),
  packages: ["chromium", "fonts-dejavu-core"],
};
const marp = "@marp-team/marp-cli";

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
  {
    name: "tmux",
    suites: "the terminal, typed into and looked at",
    leaveOut: { COLLOQUY_TEST_TMUX: "no" },
    isThere: () => isInPath("tmux"),
    packages: ["tmux"],
  },
  sandbox,
  python,
  chromium,
  {
    name: "Firefox",
    suites: "the page in another browser",
    leaveOut: { COLLOQUY_TEST_FIREFOX: "no" },
    isThere: () => isInPath("firefox-esr"),
    packages: ["firefox-esr"],
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

/**
 * For what is missing, a line with the command that brings it; nothing is installed unasked. What few need is offered once,
 * when the packages were installed.
 */
export function offerForServer({ isNew }) {
  if (!isDebian() || !process.stderr.isTTY) return;
  offerForCode();
  if (isNew) offerForSlides();
}

function offerForSlides() {
  const hasMarp = isInPath("marp") || existsSync(fileURLToPath(new URL(`../node_modules/${marp}`, import.meta.url)));
  const commands = [
    ...(chromium.isThere() ? [] : [`apt-get install ${chromium.packages.join(" ")}`]),
    ...(hasMarp ? [] : [`npm install -g ${marp}@4.5.1`]),
  ];
  if (commands.length > 0) process.stderr.write(`colloquy: for slides as PDF and PPTX: ${commands.join(" && ")}\n`);
}

function offerForCode() {
  const missing = [sandbox, python].filter(({ isThere }) => !isThere());
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name).join(", ");
  const packages = missing.flatMap((each) => each.packages).join(" ");
  process.stderr.write(`colloquy: code that agents write runs best with ${names}: apt-get install ${packages}\n`);
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
  return process.getuid?.() === 0 && isDebian();
}

function isDebian() {
  if (!isInPath("apt-get")) return false;
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
