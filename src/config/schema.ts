import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { z } from "zod";
import { authSchema, basePathSchema, trustProxySchema } from "./config-auth.ts";
import { readEnvironment } from "./config-environment.ts";
import { readConfigFile } from "./config-file.ts";
import { isSecret, originOf, problemsOf, valueAt } from "./config-problems.ts";
import { ragSchema, withRagFolders } from "./config-rag.ts";
import { retentionSchema } from "./config-retention.ts";
import { sandboxSchema, withFolders } from "./config-sandbox.ts";
import { definitionsSchema } from "./config-definitions.ts";
import { toolsSchema } from "./config-tools.ts";
import { websearchSchema } from "./config-websearch.ts";
import { expandText, pathText, variable } from "./config-tree.ts";
import type { Environment, Gathered, Path, Problem, SchemaNode } from "./config-tree.ts";
import type { ChooseOptions } from "./models/choose.ts";
import { modelConfigsSchema } from "./models/config.ts";
import { approvalPolicySchema } from "./protocol/approval.ts";
import { defaultLimits, limitsSchema } from "./protocol/agents.ts";
import { InvalidInput } from "./protocol/errors.ts";
import { mcpServersSchema } from "./protocol/mcp-servers.ts";
import { strategySettingsSchema } from "./protocol/strategies.ts";

const origin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text, {
  error: "must be an origin such as http://localhost:3000, without a path",
});

const webUrl = z
  .url({ protocol: /^https?$/ })
  .refine((url) => !/^https?:\/\/[^/]*@/.test(url), "must not hold a name or password");

const configSchema = z.strictObject({
  server: z
    .strictObject({
      host: z.string().min(1).default("127.0.0.1"),
      /** 0 takes any free port. */
      port: z.int().min(0).max(65535).default(8000),
      /** Where browsers reach this server from outside; absent: `http://localhost` and the port. */
      publicUrl: origin.optional(),
      basePath: basePathSchema,
      trustProxy: trustProxySchema,
      corsOrigins: z.array(origin).default(["http://localhost:3000"]),
      /** Values of the Host header that local mode takes besides loopback ones: `name` or `name:port`. */
      hosts: z.array(z.string().min(1)).default([]),
      bodyLimitBytes: z
        .int()
        .positive()
        .default(10 * 1024 * 1024),
      /** Event streams that one user may hold open on each node; 0: any number. */
      streamsPerUser: z.int().nonnegative().default(1000),
    })
    .prefault({}),
  /** Folders are absolute in a loaded config: from the file relative to it, else to the working directory. */
  data: z.string().min(1).default("./data"),
  /** Absent: PGlite in the data directory. */
  database: z
    .string()
    .regex(/^postgres(ql)?:\/\/./, "must be a URL such as postgres://user:password@host:5432/database")
    .optional(),
  /** Seals what is secret at rest; absent: a key file in the data directory. */
  secret: z.string().min(16).optional(),
  models: modelConfigsSchema.default([]),
  /** Whether the start looks for model servers on this machine. */
  probe: z.boolean().default(true),
  /** The model server to take when no model is configured. */
  backend: z
    .strictObject({
      kind: z.enum(["ollama", "llamacpp", "auto"]).optional(),
      ollamaModel: z.string().optional(),
      temperature: z.number().min(0).max(2).optional(),
    })
    .prefault({}),
  agents: z.string().min(1).default("./agents"),
  /** Who answers where nobody is named; absent: as an admin has set it. */
  defaultAgent: z.string().min(1).optional(),
  prompts: z.string().min(1).default("./prompts"),
  rooms: z.string().min(1).default("./rooms"),
  tools: toolsSchema.prefault({}),
  /** Servers of tools by name; read again when the file changes. */
  mcpServers: mcpServersSchema.default({}),
  definitions: definitionsSchema.prefault({}),
  /** Where code that agents wrote runs. */
  sandbox: sandboxSchema.prefault({}),
  /** Who searches the web for agents. */
  websearch: websearchSchema.prefault({}),
  /** A Taiga server that agents work in. */
  taiga: z
    .strictObject({
      url: webUrl,
      /** Where people look at it; the same host when absent. */
      webUrl: webUrl.optional(),
      /** The operator's own login, for administrators who bring none: a token (`Application …` too) … */
      token: z.string().min(1).optional(),
      /** … or these two. */
      username: z.string().min(1).optional(),
      password: z.string().min(1).optional(),
      /** Worked on wherever a request names no project, with the operator's login. */
      project: z.string().min(1).optional(),
      /** Where what a run makes carries the key of the call that made it. */
      marker: z.enum(["external_reference", "tag"]).default("external_reference"),
    })
    .refine(({ username, password }) => (username === undefined) === (password === undefined), {
      error: "username and password belong together",
      path: ["password"],
    })
    .refine(({ token, username }) => token === undefined || username === undefined, {
      error: "is not needed beside a username and password: keep one of the two",
      path: ["token"],
    })
    .refine(({ project, token, username }) => project === undefined || (token ?? username) !== undefined, {
      error: "needs a login beside it: token, or username and password",
      path: ["project"],
    })
    .optional(),
  mcp: z
    .strictObject({
      /** An agent with more tools than this is offered those of MCP servers by `search_tools`. */
      deferAbove: z.int().nonnegative().default(40),
    })
    .prefault({}),
  auth: authSchema,
  limits: limitsSchema
    .partial()
    .prefault({})
    .transform((limits) => ({ ...defaultLimits, ...limits })),
  strategies: strategySettingsSchema.prefault({}),
  /** What a person is asked before it is done. */
  approval: approvalPolicySchema.prefault({}),
  /** Money for a million tokens, by a model's id or `<provider>/<name>`; the unit is yours. */
  prices: z
    .record(z.string(), z.strictObject({ input: z.number().nonnegative(), output: z.number().nonnegative() }))
    .default({}),
  /** Who is told, by a signed POST, of runs that wait or have ended. */
  webhooks: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        url: z
          .url({ protocol: /^https?$/ })
          .refine(
            (url) => !/^https?:\/\/[^/]*@/.test(url),
            "must not hold a name or password; the signature does for that",
          ),
        secret: z.string().min(16),
        events: z.array(z.enum(["waiting", "done", "failed", "cancelled"])).default(["waiting", "failed", "done"]),
      }),
    )
    .default([])
    .refine((hooks) => new Set(hooks.map(({ name }) => name)).size === hooks.length, "must have different names"),
  concurrency: z
    .strictObject({ perUser: z.int().positive().default(8), perNode: z.int().positive().default(256) })
    .prefault({}),
  /** Files that people bring. */
  uploads: z
    .strictObject({
      fileMb: z.number().positive().default(100),
      userMb: z.number().positive().default(1024),
      userFiles: z.int().positive().default(1000),
    })
    .prefault({}),
  rag: ragSchema,
  sessions: z
    .strictObject({
      /** Whether each conversation is also kept as a JSON file in `data/sessions`; absent: only in local mode. */
      mirror: z.boolean().optional(),
    })
    .prefault({}),
  retention: retentionSchema,
  log: z
    .strictObject({
      level: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
      /** Whether whole prompts and answers go to `data/logs/prompts.log`. */
      prompts: z.boolean().default(false),
    })
    .prefault({}),
});
type Settings = z.infer<typeof configSchema>;

/** Everything the server is told from outside; frozen. */
export type Config = { readonly [Key in keyof Settings]: Readonly<Settings[Key]> } & {
  /** The file that was read. */
  readonly file: string | undefined;
  /** Where each value is from, by its path (`models[0].apiKey`): `environment <VAR>`, `<file>:<line>` or `default`. */
  readonly source: ReadonlyMap<string, string>;
  /** Keys that are absent because their `${VAR}` is not set: path to variable. */
  readonly absent: ReadonlyMap<string, string>;
  /** API keys in the environment, by name only: offered, never used unasked. */
  readonly seenKeys: readonly string[];
};

/** All that is wrong with the configuration, in one list. Names no secret's value. */
export class ConfigInvalid extends InvalidInput {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const lines = problems.map(({ where, path, text }) => `  ${where}: ${path === "" ? "" : `${path} `}${text}`);
    const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
    super(`The configuration has ${count}:\n${lines.join("\n")}`, { code: "config_invalid" });
    this.problems = problems;
  }
}

// Its input side: what a person may write, before defaults and transforms.
export const schemaTree: SchemaNode = z.toJSONSchema(configSchema, { io: "input", unrepresentable: "any" });

/**
 * Reads `colloquy.yaml` in `cwd` (or the file that COLLOQUY_CONFIG names) and the environment.
 * Environment > file > defaults. Throws ConfigInvalid with every problem.
 */
export function loadConfig(options?: { readonly env?: Environment; readonly cwd?: string }): Config {
  const environment = options?.env ?? process.env;
  const cwd = options?.cwd ?? process.cwd();
  const gathered: Gathered = { values: {}, origins: new Map(), absent: new Map(), problems: [] };

  const file = findFile(cwd, environment, gathered.problems);
  if (file !== undefined) {
    const name = relative(cwd, file);
    const shortName = name.startsWith("..") || isAbsolute(name) ? file : name;
    readConfigFile(gathered, { path: file, name: shortName }, { environment, schema: schemaTree });
  }
  expandText(gathered, "tools", "folder");
  expandText(gathered, "sandbox", "kind");
  readEnvironment(gathered, environment, schemaTree);

  const parsed = configSchema.safeParse(gathered.values);
  if (!parsed.success) gathered.problems.push(...problemsOf(parsed.error.issues, gathered, schemaTree));
  gathered.problems.push(...problemsAcross(gathered));
  if (!parsed.success || gathered.problems.length > 0) throw new ConfigInvalid(gathered.problems);

  const folder = (path: Path, value: string): string => {
    const isFromFile = file !== undefined && !/^(environment |default$)/.test(sourceOf(gathered, path));
    return resolve(isFromFile ? dirname(file) : cwd, value);
  };
  const { data, agents, prompts, rooms, tools, sandbox } = parsed.data;
  const settings = {
    ...parsed.data,
    data: folder(["data"], data),
    agents: folder(["agents"], agents),
    prompts: folder(["prompts"], prompts),
    rooms: folder(["rooms"], rooms),
    tools: { ...tools, folder: folder(["tools", "folder"], tools.folder) },
    sandbox: withFolders(sandbox, folder),
    rag: withRagFolders(parsed.data.rag, folder),
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

/** From what `default` is chosen. */
export function modelChoiceOf({ models, backend, probe, server }: Config): ChooseOptions {
  const { kind, ollamaModel, temperature } = backend;
  const wish = {
    ...(kind ? { backend: kind } : {}),
    ...(ollamaModel ? { ollamaModel } : {}),
    ...(temperature === undefined ? {} : { temperature }),
  };
  return { models, wish, probe, ownPort: server.port };
}

/** For a file of ours that names a variable; an empty one counts as unset. */
export function environmentVariable(name: string): string | undefined {
  return variable(process.env, name);
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

function sourceOf(gathered: Gathered, path: Path): string {
  // A key without a value keeps its line, for problems; its value is the default's.
  if (valueAt(gathered.values, path) === undefined) return "default";
  return gathered.origins.get(pathText(path)) ?? "default";
}

function findFile(cwd: string, environment: Environment, problems: Problem[]): string | undefined {
  const named = variable(environment, "COLLOQUY_CONFIG");
  const file = resolve(cwd, named ?? "colloquy.yaml");
  if (existsSync(file)) return file;
  if (named !== undefined)
    problems.push({ where: "environment COLLOQUY_CONFIG", path: "", text: `there is no file ${file}` });
  else if (existsSync(join(cwd, "colloquy.yml"))) {
    problems.push({ where: "colloquy.yml", path: "", text: "this file is not read: name it colloquy.yaml" });
  }
  return undefined;
}

/** Rules over several keys; on the values as given, so that they are in the list beside faults of form. */
function problemsAcross(gathered: Gathered): Problem[] {
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
function leavesOf(value: unknown, path: Path = []): { path: Path; value: unknown }[] {
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
