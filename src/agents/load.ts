import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { z } from "zod";
import { agentSchema, limitsSchema, modelSettingsSchema } from "../protocol/agents/agents.ts";
import type { AgentDefinition, AgentRegistry } from "../protocol/agents/agents.ts";
import { similarNames } from "../protocol/base/similar-names.ts";
import { createAgentRegistry } from "./registry.ts";
import { parseFrontMatter } from "./front-matter.ts";
import type { FrontMatter } from "./front-matter.ts";

export type AgentProblem = { readonly file: string; readonly line?: number; readonly message: string };
export type LoadedAgents = {
  readonly agents: AgentRegistry;
  /** Ids of those that the folder has. */
  readonly own: ReadonlySet<string>;
  /** The files of these, by id. */
  readonly files: ReadonlyMap<string, string>;
  readonly problems: readonly AgentProblem[];
};
/** What holds for every agent whose file doesn't say otherwise. */
export type AgentDefaults = Partial<Pick<AgentDefinition, "model" | "limits" | "settings">>;

const builtInFolder = join(import.meta.dirname, "built-in");
const maximumFileBytes = 1_000_000;

/**
 * The built-in agents and those of a folder of Markdown files; a file of the folder replaces the built-in agent of
 * the same id. A file with a problem is left out and told; a folder that isn't there has no agents.
 */
export async function loadAgents(options: {
  readonly folder?: string;
  readonly defaults?: AgentDefaults;
}): Promise<LoadedAgents> {
  const { folder, defaults = {} } = options;
  const builtIn = await loadFolder(builtInFolder, defaults);
  const own =
    folder === undefined ? { agents: [], files: new Map(), problems: [] } : await loadFolder(folder, defaults);
  const byId = new Map([...builtIn.agents, ...own.agents].map((agent) => [agent.id, agent]));
  return {
    agents: createAgentRegistry([...byId.values()]),
    own: new Set(own.agents.map(({ id }) => id)),
    files: own.files,
    problems: [...builtIn.problems, ...own.problems],
  };
}

type LoadedFolder = {
  readonly agents: readonly AgentDefinition[];
  readonly files: ReadonlyMap<string, string>;
  readonly problems: readonly AgentProblem[];
};

async function loadFolder(folder: string, defaults: AgentDefaults): Promise<LoadedFolder> {
  const agents = new Map<string, { readonly agent: AgentDefinition; readonly file: string }>();
  const problems: AgentProblem[] = [];
  for (const file of await markdownFilesIn(folder)) {
    const size = (await stat(file)).size;
    if (size > maximumFileBytes) {
      problems.push({ file, message: `The file is larger than ${maximumFileBytes} bytes.` });
      continue;
    }
    const parsed = parseAgent(file, await readFile(file, "utf8"), defaults);
    if (!parsed.ok) {
      problems.push(...parsed.problems);
      continue;
    }
    const { agent } = parsed;
    const other = agents.get(agent.id);
    if (other) problems.push({ file, message: `There is already an agent ${agent.id}, in ${other.file}.` });
    else agents.set(agent.id, { agent, file });
  }
  return {
    agents: [...agents.values()].map(({ agent }) => agent),
    files: new Map([...agents].map(([id, { file }]) => [id, file])),
    problems,
  };
}

async function markdownFilesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const names = entries.filter((entry) => !entry.isDirectory()).map((entry) => entry.name);
    return names
      .filter((name) => /^[^.].*\.md$/.test(name) && name.toLowerCase() !== "readme.md")
      .sort()
      .map((name) => join(folder, name));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

type ParsedAgent =
  | { readonly ok: true; readonly agent: AgentDefinition }
  | { readonly ok: false; readonly problems: readonly AgentProblem[] };

function parseAgent(file: string, text: string, defaults: AgentDefaults): ParsedAgent {
  const front = parseFrontMatter(text);
  if (!front.values) return { ok: false, problems: front.problems.map((problem) => ({ file, ...problem })) };
  if ("instructions" in front.values) {
    const line = front.lineOf([], "instructions");
    const message = "The instructions are the text below the front matter, not a key in it.";
    return { ok: false, problems: [problemAt(file, line, message)] };
  }
  const parsed = agentSchema.safeParse({
    id: basename(file, ".md"),
    ...defaults,
    ...front.values,
    limits: withDefaults(defaults.limits, front.values["limits"]),
    settings: withDefaults(defaults.settings, front.values["settings"]),
    instructions: front.body,
  });
  if (parsed.success) return { ok: true, agent: parsed.data };
  return { ok: false, problems: parsed.error.issues.flatMap((issue) => describeIssue(file, front, issue)) };
}

/** Key by key; a value that isn't a map stays as it is, for the schema to refuse. */
function withDefaults(defaults: object | undefined, value: unknown): unknown {
  if (value === undefined) return defaults;
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...defaults, ...value } : value;
}

function describeIssue(file: string, front: FrontMatter, issue: z.core.$ZodIssue): AgentProblem[] {
  const path = issue.path.join(".");
  if (issue.code !== "unrecognized_keys") {
    return [problemAt(file, front.lineOf(issue.path), `${path}: ${issue.message}`)];
  }
  const known = knownKeys(issue.path);
  return issue.keys.map((key) => {
    const near = similarNames(key, known);
    const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `Available: ${known.join(", ")}.`;
    const name = path === "" ? key : `${path}.${key}`;
    return problemAt(file, front.lineOf(issue.path, key), `${name} is not a known key. ${hint}`);
  });
}

function knownKeys(path: readonly PropertyKey[]): string[] {
  if (path[0] === "limits") return Object.keys(limitsSchema.shape);
  if (path[0] === "settings") return Object.keys(modelSettingsSchema.shape);
  return Object.keys(agentSchema.shape).filter((key) => key !== "instructions");
}

function problemAt(file: string, line: number | undefined, message: string): AgentProblem {
  return line === undefined ? { file, message } : { file, line, message };
}
