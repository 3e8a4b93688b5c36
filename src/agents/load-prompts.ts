import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, NotFound } from "../protocol/base/errors.ts";
import { silentLog, type Log } from "../protocol/base/log.ts";
import { similarNames } from "../protocol/base/similar-names.ts";
import { faultsOfPrompt, fillPrompt, promptPlaceholders } from "./prompt-placeholders.ts";

export type PromptProblem = { readonly file: string; readonly line?: number; readonly message: string };

export type LoadedPrompt = {
  readonly name: string;
  readonly text: string;
  /** The user's file; absent: it is built in. */
  readonly file?: string;
};

/** All prompts by name. `get` throws NotFound. */
export type PromptRegistry = {
  get(name: string): string;
  list(): readonly LoadedPrompt[];
  /** Takes in what has changed in the user's folder; for the start of a run. Looks at most once a second, and never throws. */
  refresh(): Promise<void>;
};

export type LoadedPrompts = {
  readonly prompts: PromptRegistry;
  /** What was wrong with files when they were first read. */
  readonly problems: readonly PromptProblem[];
};

const builtInFolder = join(import.meta.dirname, "prompts");
const maximumFileBytes = 100_000;

/**
 * The built-in prompts and those of a folder, its `agents` and its `tools`; a file there replaces the built-in prompt of
 * its name. A faulty file is told and changes nothing; a folder that isn't there has no prompts.
 */
export async function loadPrompts(options: {
  readonly folder?: string;
  readonly log?: Log;
  /** How old what was read may be. */
  readonly maximumAgeMs?: number;
}): Promise<LoadedPrompts> {
  const { folder, log = silentLog, maximumAgeMs = 1000 } = options;
  const builtIn = await loadBuiltIn();
  const first = await readFolder(folder);
  let current = merge({ builtIn, last: builtIn, read: first });
  let told = new Set(first.problems.map(problemKey));
  let readAt = performance.now();
  let reading: Promise<void> | undefined;

  const reread = async (): Promise<void> => {
    const read = await readFolder(folder);
    for (const problem of read.problems) {
      if (told.has(problemKey(problem))) continue;
      const { message, ...place } = problem;
      log.warn(place, `prompt left as it was: ${message}`);
    }
    told = new Set(read.problems.map(problemKey));
    const next = merge({ builtIn, last: current, read });
    for (const { name, text, file } of next.values())
      if (text !== current.get(name)?.text) log.info({ prompt: name, file: file ?? "built in" }, "prompt changed");
    current = next;
    readAt = performance.now();
  };

  const prompts: PromptRegistry = {
    get: (name) => {
      const prompt = current.get(name);
      if (prompt) return prompt.text;
      throw new NotFound(unknownName(name), { code: "prompt_not_found" });
    },
    list: () => [...current.values()],
    // Files are read again, not watched, and their times are not asked: on network drives and mounted volumes, and with
    // editors that replace files, neither can be trusted. They are few and small.
    refresh: async () => {
      if (folder === undefined || (!reading && performance.now() - readAt < maximumAgeMs)) return;
      reading ??= reread().finally(() => (reading = undefined));
      await reading;
    },
  };
  return { prompts, problems: first.problems };
}

/** Fills a prompt with values, as it stands in its file when it is needed. */
export function promptFiller(prompts: PromptRegistry, name: string) {
  return async (values: Readonly<Record<string, string>>): Promise<string> => {
    await prompts.refresh();
    return fillPrompt(prompts.get(name), values);
  };
}

type Prompts = ReadonlyMap<string, LoadedPrompt>;
type ReadFolder = {
  readonly prompts: Prompts;
  /** Names whose file can't be used now. */
  readonly faulty: ReadonlySet<string>;
  /** The folder could not be listed: nothing is known. */
  readonly unreadable?: boolean;
  readonly problems: readonly PromptProblem[];
};

/** What holds now; a file that became faulty, or a drive that went away, leaves what was good before. */
function merge(from: { readonly builtIn: Prompts; readonly last: Prompts; readonly read: ReadFolder }): Prompts {
  const { builtIn, last, read } = from;
  if (read.unreadable) return last;
  return new Map(
    [...builtIn].map(([name, prompt]) => [
      name,
      read.prompts.get(name) ?? (read.faulty.has(name) ? last.get(name) : undefined) ?? prompt,
    ]),
  );
}

async function loadBuiltIn(): Promise<Prompts> {
  const prompts = new Map<string, LoadedPrompt>();
  for (const name of promptPlaceholders.keys()) {
    const read = await readPrompt(name, join(builtInFolder, `${name}.txt`));
    if (read?.text === undefined) throw new Error(`The built-in prompt ${name} can't be used.`);
    prompts.set(name, { name, text: read.text });
  }
  return prompts;
}

async function readFolder(folder: string | undefined): Promise<ReadFolder> {
  const prompts = new Map<string, LoadedPrompt>();
  const faulty = new Set<string>();
  const problems: PromptProblem[] = [];
  try {
    for (const { name, file } of folder === undefined ? [] : await promptFilesIn(folder)) {
      const other = prompts.get(name)?.file;
      if (!promptPlaceholders.has(name)) problems.push({ file, message: unknownName(name) });
      else if (other !== undefined) problems.push({ file, message: `There is already a prompt ${name}, in ${other}.` });
      else {
        const read = await readPrompt(name, file);
        if (read?.text !== undefined) prompts.set(name, { name, text: read.text, file });
        else if (read) faulty.add(name);
        problems.push(...(read?.problems ?? []));
      }
    }
  } catch (error) {
    const message = `The folder can't be read: ${messageOf(error)}`;
    return { prompts, faulty, unreadable: true, problems: [{ file: folder ?? "", message }] };
  }
  return { prompts, faulty, problems };
}

/** Files of the folder itself come first. */
async function promptFilesIn(folder: string): Promise<{ readonly name: string; readonly file: string }[]> {
  const found: { name: string; file: string }[] = [];
  for (const place of [folder, join(folder, "agents"), join(folder, "tools")]) {
    for (const entry of (await namesIn(place)).sort()) {
      const name = /^([^.].*)\.(?:txt|md)$/.exec(entry)?.[1];
      if (name !== undefined && name.toLowerCase() !== "readme") found.push({ name, file: join(place, entry) });
    }
  }
  return found;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

type ReadPrompt = { readonly text?: string; readonly problems: readonly PromptProblem[] };

/** Nothing, if the file is none, or is gone since the folder was listed. */
async function readPrompt(name: string, file: string): Promise<ReadPrompt | undefined> {
  const problem = (message: string): ReadPrompt => ({ problems: [{ file, message }] });
  let bytes: Buffer;
  try {
    const stats = await stat(file);
    if (!stats.isFile()) return undefined;
    if (stats.size > maximumFileBytes) return problem(`The file is larger than ${maximumFileBytes} bytes.`);
    bytes = await readFile(file);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    return problem(`The file can't be read: ${messageOf(error)}`);
  }
  const text = decode(bytes);
  if (text === undefined) return problem("The file is not text in UTF-8.");
  const problems = faultsOfPrompt(name, text).map((fault) => ({ file, ...fault }));
  return problems.length > 0 ? { problems } : { text, problems };
}

function decode(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text.replaceAll("\r\n", "\n").trimEnd();
  } catch {
    return undefined;
  }
}

function unknownName(name: string): string {
  const near = similarNames(name, promptPlaceholders.keys());
  const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `Available: ${knownNames()}.`;
  return `Prompt "${name}" not found. ${hint}`;
}

const knownNames = (): string => [...promptPlaceholders.keys()].join(", ");

const problemKey = ({ file, line, message }: PromptProblem): string => `${file}:${line ?? ""} ${message}`;
