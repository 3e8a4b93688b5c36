import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { readEnvironment } from "./environment.ts";
import { readConfigFile } from "./file.ts";
import { isSecret, originOf, problemsOf, valueAt } from "./problems.ts";
import { withRagFolders } from "./sections/knowledge.ts";
import { withOllamaAddress } from "./sections/ollama-address.ts";
import { withFolders } from "./sections/sandbox.ts";
import {
  expandText,
  pathText,
  variable,
  type Environment,
  type ConfigSources,
  type ConfigPath,
  type ConfigProblem,
} from "./tree.ts";
import { InvalidInput } from "../protocol/base/errors.ts";
import { configSchema, type Config, schemaTree } from "./schema.ts";

/** All that is wrong with the configuration, in one list. Names no secret's value. */
export class ConfigInvalid extends InvalidInput {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ where, path, text }) => `  ${where}: ${path === "" ? "" : `${path} `}${text}`);
    const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
    super(`The configuration has ${count}:\n${lines.join("\n")}`, { code: "config_invalid" });
    this.problems = problems;
  }
}

/**
 * Reads `colloquy.yaml` in `cwd` (or the file that COLLOQUY_CONFIG names) and the environment.
 * Environment > file > defaults. Throws ConfigInvalid with every problem.
 */
export function loadConfig(options?: { readonly env?: Environment; readonly cwd?: string }): Config {
  const environment = options?.env ?? process.env;
  const cwd = options?.cwd ?? process.cwd();
  const gathered: ConfigSources = { values: {}, origins: new Map(), absent: new Map(), problems: [] };

  const file = findFile(cwd, environment, gathered.problems);
  if (file !== undefined) {
    const name = relative(cwd, file);
    const shortName = name.startsWith("..") || isAbsolute(name) ? file : name;
    readConfigFile(gathered, { path: file, name: shortName }, { environment, schema: schemaTree });
  }
  expandText(gathered, "database", "url");
  expandText(gathered, "tools", "folder");
  expandText(gathered, "sandbox", "kind");
  expandText(gathered, "titles", "by");
  readEnvironment(gathered, environment, schemaTree);

  const parsed = configSchema.safeParse(gathered.values);
  if (!parsed.success) gathered.problems.push(...problemsOf(parsed.error.issues, gathered, schemaTree));
  gathered.problems.push(...problemsAcross(gathered));
  if (!parsed.success || gathered.problems.length > 0) throw new ConfigInvalid(gathered.problems);

  const folder = (path: ConfigPath, value: string): string => {
    const isFromFile = file !== undefined && !/^(environment |default$)/.test(sourceOf(gathered, path));
    return resolve(isFromFile ? dirname(file) : cwd, value);
  };
  const { data, agents, prompts, rooms, tools, sandbox, models, backend } = parsed.data;
  const isEmbeddingAtOllama =
    backend.ollamaUrl !== undefined && sourceOf(gathered, ["rag", "embeddingUrl"]) === "default";
  const rag = isEmbeddingAtOllama ? { ...parsed.data.rag, embeddingUrl: `${backend.ollamaUrl}/v1` } : parsed.data.rag;
  const settings = {
    ...parsed.data,
    data: folder(["data"], data),
    agents: folder(["agents"], agents),
    prompts: folder(["prompts"], prompts),
    rooms: folder(["rooms"], rooms),
    tools: { ...tools, folder: folder(["tools", "folder"], tools.folder) },
    sandbox: withFolders(sandbox, folder),
    models: withOllamaAddress(models, backend.ollamaUrl),
    rag: withRagFolders(rag, folder),
  };
  const source = new Map(leavesOf(settings).map(({ path }) => [pathText(path), sourceOf(gathered, path)]));
  const seenKeys = providerKeys.filter((name) => variable(environment, name) !== undefined);
  const config = freeze({ ...settings, file, source, absent: gathered.absent, seenKeys });
  loadedFrom.set(config, { env: environment, cwd });
  return config;
}

const loadedFrom = new WeakMap<Config, { readonly env: Environment; readonly cwd: string }>();

/** From where this one was loaded, as it is there now. */
export function loadConfigAgain(config: Config): Config {
  return loadConfig(loadedFrom.get(config));
}

/** For a file of ours that names a variable; an empty one counts as unset. */
export function environmentVariable(name: string): string | undefined {
  return variable(process.env, name);
}

/** Whether a browser can be opened for whoever looks on. */
export function hasDisplay(environment: Environment = process.env): boolean {
  const has = (name: string) => variable(environment, name) !== undefined;
  if (has("CI") || has("SSH_CONNECTION")) return false;
  return process.platform === "darwin" || has("DISPLAY") || has("WAYLAND_DISPLAY");
}

/** What opens a browser there. */
export function displayEnvironment(environment: Environment = process.env): Record<string, string> {
  const names = Object.keys(environment).filter((name) =>
    /^(XDG_|DISPLAY$|WAYLAND_DISPLAY$|XAUTHORITY$|DBUS_)/.test(name),
  );
  return { ...plainEnvironment(environment), ...passedOn(environment, names) };
}

/** What programs that we start get of our environment: nothing that could be secret. */
export function plainEnvironment(environment: Environment = process.env): Record<string, string> {
  return passedOn(environment, ["PATH", "HOME", "LANG"]);
}

/** What Docker and Podman get of it beside that: where their daemon, their settings and their files are. */
export function engineEnvironment(environment: Environment = process.env): Record<string, string> {
  const names = Object.keys(environment).filter((name) => /^(DOCKER|CONTAINERS?|XDG)_/.test(name));
  return { ...plainEnvironment(environment), ...passedOn(environment, [...names, "TMPDIR", "SSH_AUTH_SOCK"]) };
}

function passedOn(environment: Environment, names: readonly string[]): Record<string, string> {
  const passed = names.map((name) => [name, variable(environment, name)] as const);
  return Object.fromEntries(passed.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** Every value with its source, for people: secrets masked. */
export function describeConfig(config: Config): { path: string; value: unknown; source: string }[] {
  const { file: _file, source, absent: _absent, seenKeys: _seenKeys, ...settings } = config;
  return leavesOf(settings).map(({ path, value }) => {
    const name = pathText(path);
    return { path: name, value: isSecret(name, value) ? "***" : value, source: source.get(name) ?? "default" };
  });
}

const providerKeys = [
  "OPENAI_API_KEY",
  "ANTHROPIC_API_KEY",
  "CEREBRAS_API_KEY",
  "DEEPSEEK_API_KEY",
  "GEMINI_API_KEY",
  "GROQ_API_KEY",
  "MISTRAL_API_KEY",
  "OPENROUTER_API_KEY",
  "TOGETHER_API_KEY",
  "XAI_API_KEY",
];

function sourceOf(gathered: ConfigSources, path: ConfigPath): string {
  // A key without a value keeps its line, for problems; its value is the default's.
  if (valueAt(gathered.values, path) === undefined) return "default";
  return gathered.origins.get(pathText(path)) ?? "default";
}

function findFile(cwd: string, environment: Environment, problems: ConfigProblem[]): string | undefined {
  const named = variable(environment, "COLLOQUY_CONFIG");
  const file = resolve(cwd, named ?? "colloquy.yaml");
  if (existsSync(file)) return file;
  if (named !== undefined)
    problems.push({ where: "environment COLLOQUY_CONFIG", path: "", text: `file ${file} not found` });
  else if (existsSync(join(cwd, "colloquy.yml"))) {
    problems.push({ where: "colloquy.yml", path: "", text: "this file is not read: name it colloquy.yaml" });
  }
  return undefined;
}

/** Rules over several keys; on the values as given, so that they are in the list beside faults of form. */
function problemsAcross(gathered: ConfigSources): ConfigProblem[] {
  const host = valueAt(gathered.values, ["server", "host"]);
  const mode = valueAt(gathered.values, ["auth", "mode"]) ?? "local";
  if (typeof host !== "string" || isLoopback(host) || mode !== "local") return [];
  return [
    {
      where: originOf(gathered, ["server", "host"]),
      path: "server.host",
      text:
        `is ${host}, which other machines can reach, but in auth.mode local whoever reaches the server may use it: ` +
        "set auth.mode to accounts (COLLOQUY_AUTH__MODE=accounts), or server.host to 127.0.0.1",
    },
  ];
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Scalars, and lists of scalars as a whole. */
function leavesOf(value: unknown, path: ConfigPath = []): { path: ConfigPath; value: unknown }[] {
  if (Array.isArray(value) && value.some((item) => typeof item === "object")) {
    return value.flatMap((item, index) => leavesOf(item, [...path, index]));
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return value === undefined ? [] : [{ path, value }];
  }
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]));
}

function freeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === "object" && inner !== null) freeze(inner);
  return Object.freeze(value);
}
