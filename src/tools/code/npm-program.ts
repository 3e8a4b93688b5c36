import { readFile, realpath, stat } from "node:fs/promises";
import { delimiter, dirname, join, sep } from "node:path";
import { z } from "zod";

/** A program for Node.js as npm has installed it on this machine. */
export type NpmProgram = {
  /** Its file, below `root`. */
  readonly program: string;
  /** The folder that holds it and all that it imports. */
  readonly root: string;
  readonly version: string;
};

export type NpmProgramOptions = {
  /** The program, or the folder of its package; absent: the program of its name in the PATH. */
  readonly named: string | undefined;
  readonly searchPath: string;
  /** Where else it is looked for if nothing is named. */
  readonly also?: readonly string[];
};

const packageSchema = z.looseObject({
  version: z.string(),
  bin: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
});

/** It is not run for that: what is installed may be anybody's. Undefined: it is not there. */
export async function findNpmProgram(
  name: string,
  { named, searchPath, also = [] }: NpmProgramOptions,
): Promise<NpmProgram | undefined> {
  const inPath = searchPath.split(delimiter).map((folder) => join(folder, named ?? name));
  const candidates = named?.includes(sep) ? [named] : [...inPath, ...(named === undefined ? also : [])];
  for (const candidate of candidates) {
    const found = await realpath(candidate).catch(() => undefined);
    if (found !== undefined) return await describe(name, found);
  }
  return undefined;
}

async function describe(name: string, found: string): Promise<NpmProgram | undefined> {
  const isFolder = (await stat(found)).isDirectory();
  for (let folder = isFolder ? found : dirname(found); ; folder = dirname(folder)) {
    const described = await readPackage(join(folder, "package.json"));
    if (described) {
      const { bin, version } = described;
      const main = typeof bin === "string" ? bin : bin?.[name];
      const program = isFolder ? main && join(folder, main) : found;
      return program ? { program, root: rootOf(folder), version } : undefined;
    }
    if (folder === dirname(folder)) return undefined;
  }
}

/** What a package imports stands beside it, in the outermost `node_modules` on its way. */
function rootOf(folder: string): string {
  const parts = folder.split(sep);
  const at = parts.indexOf("node_modules");
  return at === -1 ? folder : parts.slice(0, at + 1).join(sep);
}

async function readPackage(path: string): Promise<z.infer<typeof packageSchema> | undefined> {
  try {
    return packageSchema.parse(JSON.parse(await readFile(path, "utf8")));
  } catch {
    return undefined;
  }
}

/** Where a program of `root` is when that folder is mounted as `target`. */
export function mountedProgram({ program, root }: NpmProgram, target: string): string {
  return [target, ...program.slice(root.length + 1).split(sep)].join("/");
}
