/** The MCP Inspector for the long tests: 110 MB, so it stands in .cache and not among the packages. Node built-ins only. */
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { holdLock } from "./lock.mjs";
import { npmCommand } from "./packages.mjs";
import { Problem, runChild } from "./run-child.mjs";

const files = ["package.json", "package-lock.json"];

/**
 * Installs what test/mcp-inspector/package-lock.json names, once for each lock file, and returns the path of its program.
 * Undefined where npm can't install it, which is said; in CI that is a Problem.
 */
export async function ensureInspector(root) {
  const source = join(root, "test", "mcp-inspector");
  const hash = createHash("sha256")
    .update(readFileSync(join(source, "package-lock.json")))
    .digest("hex");
  const folder = join(root, ".cache", `mcp-inspector-${hash.slice(0, 12)}`);
  const program = join(folder, "node_modules", ".bin", "mcp-inspector");
  if (existsSync(program)) return program;
  mkdirSync(join(root, ".cache"), { recursive: true });
  const release = await holdLock(`${folder}.lock`, () =>
    say("another process is installing the MCP Inspector; waiting"),
  );
  try {
    if (existsSync(program)) return program;
    const failure = await install(source, folder);
    if (failure === undefined) return program;
    if (process.env.CI) throw new Problem(`the MCP Inspector can't be installed, so its tests can't run: ${failure}`);
    say(`LEFT OUT: all tests of MCP Inspector against our servers, since npm can't install it: ${failure}`);
    return undefined;
  } finally {
    release();
  }
}

/** Returns the end of npm's output if it failed. */
async function install(source, folder) {
  say("installing the MCP Inspector for its tests, about 20 s");
  const startedAt = Date.now();
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished);
  for (const file of files) copyFileSync(join(source, file), join(unfinished, file));
  const [command, ...before] = npmCommand();
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-timeout=60000"];
  const { code, output } = await runChild(command, [...before, ...args], { cwd: unfinished, quiet: true });
  if (code !== 0) return output.trim() || `npm ended with code ${code}`;
  rmSync(folder, { recursive: true, force: true });
  renameSync(unfinished, folder);
  say(`the MCP Inspector is installed in ${Math.round((Date.now() - startedAt) / 1000)} s`);
  return undefined;
}

function say(text) {
  process.stderr.write(`colloquy: ${text}\n`);
}
