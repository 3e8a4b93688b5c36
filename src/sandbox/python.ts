import { access, constants, mkdtemp, open, realpath, rm, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { tmpdir } from "node:os";
import { z } from "zod";
import { messageOf } from "../protocol/base/errors.ts";
import { runProcess } from "./process/run-process.ts";
import { type Mount, type Sandbox, SandboxUnusable } from "./sandbox.ts";

/** The interpreter as commands in a sandbox find it. */
export type PythonHere = {
  readonly command: string;
  readonly version: string;
  /** Those that people ask for, with their versions, as far as they are there. */
  readonly packages: readonly string[];
  /** Without them it is not there. */
  readonly mounts: readonly Mount[];
};

export type PythonState = {
  readonly here: PythonHere | undefined;
  /** Missing ones of the standard packages: pandas, numpy, matplotlib, openpyxl. */
  readonly missing: readonly string[];
  /** Why there is none, or not the one that was named. */
  readonly problem?: string;
};

export type PythonOptions = {
  /** An interpreter or a virtual environment of this machine; a bare name is looked for like the default. */
  readonly named?: string | undefined;
  /** Where programs are looked for: a PATH. */
  readonly searchPath: string;
  readonly signal: AbortSignal;
};

const wanted = ["pandas", "numpy", "matplotlib", "openpyxl"];
const known = [
  ...wanted,
  ...["scipy", "sympy", "scikit-learn", "statsmodels", "seaborn", "plotly", "networkx", "pyarrow", "polars"],
  ...["pillow", "lxml", "beautifulsoup4", "xlsxwriter", "python-docx", "python-pptx", "pypdf", "reportlab", "tabulate"],
];

/** They show commands the programs of this machine; others have their own. */
const ofThisMachine: readonly string[] = ["bubblewrap", "landlock", "unsafe-native"];

const askMs = 10_000;

/** Finds the interpreter and asks it, in the sandbox, what it has. What is not there is told, not thrown. */
export async function describePython(sandbox: Sandbox, wish: PythonOptions): Promise<PythonState> {
  try {
    const place = ofThisMachine.includes(sandbox.report.driver)
      ? await findPython(wish)
      : { command: "python3", mounts: [] };
    const { version, packages } = await ask(sandbox, place, wish.signal);
    return {
      here: { ...place, version, packages: Object.entries(packages).map(([name, found]) => `${name} ${found}`) },
      missing: wanted.filter((name) => !(name in packages)),
    };
  } catch (error) {
    return { here: undefined, missing: [], problem: messageOf(error) };
  }
}

type PythonInstallation = Pick<PythonHere, "command" | "mounts">;

async function findPython({ named, searchPath, signal }: PythonOptions): Promise<PythonInstallation> {
  const command = named?.includes("/") ? await interpreterAt(named) : await firstInPath(named ?? "python3", searchPath);
  const [prefix, base] = await prefixesOf(command, signal);
  const folders = [...new Set([prefix, base])].filter((folder) => !["/usr", "/usr/local"].includes(folder));
  return { command, mounts: folders.map((folder) => ({ source: folder, target: folder })) };
}

async function interpreterAt(path: string): Promise<string> {
  const isFolder = (await stat(path).catch(() => undefined))?.isDirectory();
  const command = isFolder ? join(path, "bin", "python3") : path;
  if (await isExecutable(command)) return command;
  throw new SandboxUnusable(`interpreter ${command} not found`);
}

/** The first that is no script: pyenv's take a third of a second each time, and are of no use in a sandbox. */
async function firstInPath(name: string, searchPath: string): Promise<string> {
  for (const folder of searchPath.split(delimiter).filter((each) => each.startsWith("/"))) {
    const command = join(folder, name);
    if ((await isExecutable(command)) && !(await isScript(command))) return command;
  }
  throw new SandboxUnusable(`${name} is not installed: apt-get install python3`);
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function isScript(path: string): Promise<boolean> {
  const file = await open(await realpath(path));
  try {
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return buffer.toString("latin1") === "#!";
  } finally {
    await file.close();
  }
}

/** Where its own files are, and those of the interpreter that a virtual environment was made of. */
async function prefixesOf(command: string, signal: AbortSignal): Promise<[prefix: string, base: string]> {
  const result = await runProcess(
    { file: command, args: ["-I", "-c", "import sys; print(sys.prefix); print(sys.base_prefix)"], env: {} },
    { signal, limits: { timeoutMs: askMs, outputBytes: 1024 ** 2 } },
  );
  const [prefix, base] = result.stdout.text.split("\n");
  if (result.exitCode === 0 && prefix?.startsWith("/") && base?.startsWith("/")) return [prefix, base];
  throw new SandboxUnusable(`${command} is no Python 3 that works: ${result.stderr.text.trim() || result.end}`);
}

const answerSchema = z.object({ version: z.string(), packages: z.record(z.string(), z.string()) });

const question = `
import json, sys
from importlib import metadata
packages = {}
for name in sys.argv[1:]:
    try: packages[name] = metadata.version(name)
    except metadata.PackageNotFoundError: pass
print(json.dumps({"version": "%d.%d.%d" % sys.version_info[:3], "packages": packages}))
`;

async function ask(sandbox: Sandbox, { command, mounts }: PythonInstallation, signal: AbortSignal) {
  const workspace = await mkdtemp(join(tmpdir(), "colloquy-python-"));
  try {
    const { exitCode, end, stdout, stderr } = await sandbox.run({
      argv: [command, "-I", "-c", question, ...known],
      workspace,
      mounts,
      signal,
      limits: { timeoutMs: askMs },
    });
    if (exitCode === 0) return answerSchema.parse(JSON.parse(stdout.text));
    throw new SandboxUnusable(`${command} does not work in the sandbox: ${stderr.text.trim() || end}`);
  } finally {
    await sandbox.release(workspace);
    await rm(workspace, { recursive: true, force: true });
  }
}
