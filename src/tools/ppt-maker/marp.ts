import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Mount, Sandbox, SandboxLimits, SandboxResult } from "../../sandbox/sandbox.ts";
import { findNpmProgram, mountedProgram, type NpmProgram } from "../code/npm-program.ts";

export const marpInstall = "npm install -g @marp-team/marp-cli@4.5.1";
export const chromiumInstall = "apt-get install chromium fonts-dejavu-core";

export const formats = ["html", "pdf", "pptx"] as const;
export type DeckFormat = (typeof formats)[number];

export type Marp = {
  readonly program: NpmProgram;
  /** Path, the same inside the sandbox; undefined: only HTML can be made. */
  readonly chromium: string | undefined;
};

export type MarpOptions = {
  readonly marp: string | undefined;
  readonly chromium: string | undefined;
  readonly searchPath: string;
};

const node = "/opt/node/bin/node";
const modules = "/opt/marp/node_modules";
const browsers = ["chromium", "google-chrome-stable", "google-chrome", "chrome"].map((name) => `/usr/bin/${name}`);
/** The limit counts threads, and a browser has many. */
const minProcesses = 512;
const minMemoryBytes = 1024 ** 3;

/** Finds the installed Marp and Chromium. Undefined: no Marp. */
export async function findMarp({ marp, chromium, searchPath }: MarpOptions): Promise<Marp | undefined> {
  // Beside this server's own packages, where its developers have it.
  const beside = join(import.meta.dirname, "../../../node_modules/@marp-team/marp-cli");
  const program = await findNpmProgram("marp", { named: marp, searchPath, also: [beside] });
  if (!program) return undefined;
  const found = chromium === undefined ? browsers.find((path) => existsSync(path)) : chromium;
  return { program, chromium: found === undefined ? undefined : await realpath(found).catch(() => undefined) };
}

export type Conversion = {
  readonly workspace: string;
  /** Workspace paths of input and output. */
  readonly deck: string;
  readonly output: string;
  readonly limits: SandboxLimits;
  readonly signal: AbortSignal;
};

/** Converts a deck to one file. The deck is not trusted: no other files, no network, and none of the workspace's settings. */
export function convert(sandbox: Sandbox, { program, chromium }: Marp, to: Conversion): Promise<SandboxResult> {
  const { workspace, deck, output, limits, signal } = to;
  const images = output.endsWith(".png") ? ["--images", "png"] : [];
  const quiet = ["--no-stdin", "--no-config-file", "--browser", "chrome", "--browser-timeout", "60"];
  return sandbox.run({
    // HOME=/tmp keeps temporary files out of the workspace.
    argv: [
      ...["env", "HOME=/tmp", node, mountedProgram(program, modules)],
      ...[deck, ...images, "--output", output, ...quiet],
    ],
    workspace,
    signal,
    env: {
      // Chromium's own sandbox needs privileges that are missing here; ours contains it.
      CHROME_NO_SANDBOX: "1",
      ...(chromium === undefined ? {} : { CHROME_PATH: chromium }),
    },
    mounts: [
      { source: process.execPath, target: node },
      { source: program.root, target: modules },
      ...mountsOf(chromium),
    ],
    limits: {
      ...limits,
      processes: Math.max(limits.processes, minProcesses),
      memoryBytes: Math.max(limits.memoryBytes, minMemoryBytes),
      timeoutMs: conversionMs,
    },
  });
}

export const conversionMs = 90_000;

/** Mounts for Chromium. Everything below /usr is already mounted. */
function mountsOf(chromium: string | undefined): readonly Mount[] {
  if (chromium === undefined || chromium.startsWith("/usr/")) return [];
  return [{ source: dirname(chromium), target: dirname(chromium) }];
}
