import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { messageOf } from "../../protocol/base/errors.ts";
import type { Tool } from "../../protocol/agents/tools.ts";
import { defineTool } from "./define-tool.ts";
import { NothingDone } from "./nothing-done.ts";

/** What a tool file's default export receives, so that it needs no imports. */
export type ToolKit = {
  readonly defineTool: typeof defineTool;
  readonly NothingDone: typeof NothingDone;
  readonly z: typeof z;
};

export type ToolProblem = { readonly file: string; readonly line?: number; readonly message: string };
export type UserTools = { readonly tools: readonly Tool[]; readonly problems: readonly ToolProblem[] };

const toolFile = /^(?!\.).+\.(?:ts|js|mjs)$/;
const notToolFile = /\.(?:d|test|spec)\.(?:ts|js|mjs)$/;
const importTimeoutMs = 10_000;

/**
 * Loads the tools of a folder, each file's default export: `({ defineTool, z }) => tool or tools`.
 * The files are the operator's own code and run in this process with all its rights.
 * A file with a problem is skipped and reported; a missing folder has no tools.
 * `taken`: tools whose names are already in use.
 */
export async function loadUserTools(
  folder: string,
  options: { readonly taken?: readonly Tool[] } = {},
): Promise<UserTools> {
  const tools: Tool[] = [];
  const problems: ToolProblem[] = [];
  let sources: ReadonlyMap<string, string> = new Map(options.taken?.map((tool) => [tool.name, tool.source]));
  for (const file of await toolFilesIn(folder)) {
    try {
      const loaded = await loadFile(file);
      sources = withSources(sources, loaded);
      tools.push(...loaded);
    } catch (error) {
      problems.push({ file, ...lineIn(file, error), message: messageOf(error) });
    }
  }
  return { tools, problems };
}

function withSources(sources: ReadonlyMap<string, string>, tools: readonly Tool[]): ReadonlyMap<string, string> {
  const all = new Map(sources);
  for (const { name, source } of tools) {
    const other = all.get(name);
    if (other !== undefined) throw new Error(`There is already a tool named ${name}, from ${other}.`);
    all.set(name, source);
  }
  return all;
}

async function toolFilesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const names = entries.filter((entry) => !entry.isDirectory()).map((entry) => entry.name);
    return names
      .filter((name) => toolFile.test(name) && !notToolFile.test(name))
      .sort()
      .map((name) => resolve(folder, name));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

async function loadFile(file: string): Promise<Tool[]> {
  const factory = await withinTime(defaultExportOf(file));
  if (typeof factory !== "function") {
    throw new TypeError("It has no default export of the form ({ defineTool, z }) => defineTool({ … }).");
  }
  const made = new Set<unknown>();
  const kit: ToolKit = {
    z,
    NothingDone,
    defineTool: (definition) => {
      const tool = { ...defineTool(definition), source: file };
      made.add(tool);
      return tool;
    },
  };
  const result: unknown = await withinTime(Promise.resolve(factory(kit)));
  const tools: unknown[] = Array.isArray(result) ? result : [result];
  const isMade = (tool: unknown): tool is Tool => made.has(tool);
  if (!tools.every(isMade)) {
    throw new TypeError("The default export must return a tool made with defineTool, or an array of tools.");
  }
  return tools;
}

async function defaultExportOf(file: string): Promise<unknown> {
  const module: { readonly default?: unknown } = await import(pathToFileURL(file).href);
  return module.default;
}

/** Reads the line of a syntax error from the stack, the only place where Node.js reports it. */
function lineIn(file: string, error: unknown): { readonly line?: number } {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const start = [`${pathToFileURL(file).href}:`, `${file}:`].find((place) => stack.includes(place));
  const line = start === undefined ? NaN : Number.parseInt(stack.slice(stack.indexOf(start) + start.length), 10);
  return Number.isNaN(line) ? {} : { line };
}

/** Limits how long a file can load: one that never finishes would keep the server from starting. */
async function withinTime<Value>(work: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const message = `It was not loaded within ${importTimeoutMs / 1000} seconds.`;
  const timer = setTimeout(() => late.reject(new Error(message)), importTimeoutMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
