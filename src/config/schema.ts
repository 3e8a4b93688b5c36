import { z } from "zod";
import { authSchema, basePathSchema, trustProxySchema } from "./sections/auth.ts";
import { databaseSchema } from "./sections/database.ts";
import { definitionsSchema } from "./sections/definitions.ts";
import { ragSchema } from "./sections/knowledge.ts";
import { ollamaAddressSchema } from "./sections/ollama-address.ts";
import { outagesSchema } from "./sections/outages.ts";
import { retentionSchema } from "./sections/retention.ts";
import { sandboxSchema } from "./sections/sandbox.ts";
import { titlesSchema } from "./sections/titles.ts";
import { toolsSchema } from "./sections/tools.ts";
import { websearchSchema } from "./sections/web-search.ts";
import { mostWorkers } from "./sections/workers.ts";
import type { SchemaNode } from "./tree.ts";
import type { ChooseOptions } from "../models/discovery/choose.ts";
import { modelConfigsSchema } from "../models/config.ts";
import { approvalPolicySchema } from "../protocol/agents/approval.ts";
import { defaultLimits, limitsSchema } from "../protocol/agents/agents.ts";
import { mcpServersSchema } from "../protocol/agents/mcp-servers.ts";
import { strategySettingsSchema } from "../protocol/agents/strategies.ts";

const origin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text, {
  error: "must be an origin such as http://localhost:3000, without a path",
});

const webUrl = z
  .url({ protocol: /^https?$/ })
  .refine((url) => !/^https?:\/\/[^/]*@/.test(url), "must not contain a user name or password");

export const configSchema = z.strictObject({
  server: z
    .strictObject({
      host: z.string().min(1).default("127.0.0.1"),
      /** 0 takes any free port. */
      port: z.int().min(0).max(65535).default(8000),
      /** One more port to listen on, for clients that know no other than Ollama's 11434. */
      ollamaPort: z.int().min(1).max(65535).optional(),
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
  database: databaseSchema,
  /** Server processes behind one port, each a node of its own; more than one needs PostgreSQL. */
  workers: z.int().min(1).max(mostWorkers).default(1),
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
      /** Where Ollama is, also for models of Ollama's and embeddings that name no address; absent: on this machine. */
      ollamaUrl: ollamaAddressSchema.optional(),
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
  /** What `prices` are in, and every cost that is shown: a code of ISO 4217. */
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, "must be a currency's code, like USD or EUR")
    .default("USD"),
  /** Money for a million tokens, by a model's id or `<provider>/<name>`. */
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
            "must not contain a user name or password; requests are signed instead",
          ),
        secret: z.string().min(16),
        events: z.array(z.enum(["waiting", "done", "failed", "cancelled"])).default(["waiting", "failed", "done"]),
      }),
    )
    .default([])
    .refine((hooks) => new Set(hooks.map(({ name }) => name)).size === hooks.length, "must have different names"),
  /** Settings for runs whose model is unavailable. */
  outages: outagesSchema,
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
  titles: titlesSchema,
  retention: retentionSchema,
  log: z
    .strictObject({
      level: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
      /** Whether whole prompts and answers go to `data/logs/prompts.log`. */
      prompts: z.boolean().default(false),
    })
    .prefault({}),
});

type ConfigValues = z.infer<typeof configSchema>;

/** Everything the server is told from outside; frozen. */
export type Config = { readonly [Key in keyof ConfigValues]: Readonly<ConfigValues[Key]> } & {
  /** The file that was read. */
  readonly file: string | undefined;
  /** Where each value is from, by its path (`models[0].apiKey`): `environment <VAR>`, `<file>:<line>` or `default`. */
  readonly source: ReadonlyMap<string, string>;
  /** Keys that are absent because their `${VAR}` is not set: path to variable. */
  readonly absent: ReadonlyMap<string, string>;
  /** API keys in the environment, by name only: offered, never used unasked. */
  readonly seenKeys: readonly string[];
};

// Its input side: what a person may write, before defaults and transforms.
export const schemaTree: SchemaNode = z.toJSONSchema(configSchema, { io: "input", unrepresentable: "any" });

/** From what `default` is chosen. */
export function modelChoiceOf({ models, backend, probe, server }: Config): ChooseOptions {
  const { kind, ollamaModel, ollamaUrl, temperature } = backend;
  const wish = {
    ...(kind ? { backend: kind } : {}),
    ...(ollamaModel ? { ollamaModel } : {}),
    ...(ollamaUrl ? { ollamaUrl } : {}),
    ...(temperature === undefined ? {} : { temperature }),
  };
  return { models, wish, probe, ownPort: server.port };
}
