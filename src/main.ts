import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { loadPrompts } from "./agents/load-prompts.ts";
import { missingTools } from "./agents/missing-tools.ts";
import { loadAgents } from "./agents/load.ts";
import { withModels } from "./agents/choose-model.ts";
import { watchConfig } from "./config-watch.ts";
import { type Config, plainEnvironment } from "./config.ts";
import { createApp } from "./http/app.ts";
import { inProcess } from "./http/mcp/in-process.ts";
import { createTaskCalls } from "./http/mcp/task-calls.ts";
import { todoSurface } from "./http/mcp/todo-surface.ts";
import { startWebhooks } from "./http/webhooks.ts";
import { chooseModels, type ModelChoice } from "./models/choose.ts";
import { createCallLog } from "./models/call-log.ts";
import { createPrices } from "./models/prices.ts";
import { createPromptLog } from "./models/prompt-log.ts";
import { createModels } from "./models/registry.ts";
import type { Caller } from "./protocol/callers.ts";
import { Conflict, InvalidInput } from "./protocol/errors.ts";
import type { Log } from "./protocol/log.ts";
import type { ModelCallRecord } from "./protocol/models.ts";
import { createRuns } from "./run/create-runs.ts";
import { strategies } from "./run/strategies.ts";
import { createKeyFinder } from "./store/api-keys.ts";
import type { Database } from "./store/database.ts";
import { examineDatabase } from "./store/examine.ts";
import { createMcpCredentials } from "./store/mcp-credentials.ts";
import { refuseHalfImported } from "./store/import.ts";
import { migrate } from "./store/migrate.ts";
import { insertModelCalls, type PricedCall } from "./store/model-calls.ts";
import { ensureSecret, type FileProof, proveFiles } from "./store/node-marker.ts";
import { openDatabase } from "./store/open.ts";
import { readRunSecret, replaceRunSecret } from "./store/run-secrets.ts";
import { createUserAdmin } from "./store/user-admin.ts";
import { ensureOwner } from "./store/users.ts";
import { builtInTools } from "./tools/built-in.ts";
import { findingOf } from "./tools/mcp/findings.ts";
import { createMcpServers } from "./tools/mcp/mcp-servers.ts";
import { createMcpSignIns } from "./tools/mcp/sign-in/mcp-sign-ins.ts";
import { createSignIns } from "./tools/mcp/sign-in/sign-ins.ts";
import { createOwnServer } from "./tools/mcp/own-server.ts";
import { createToolRegistry } from "./tools/registry.ts";
import { taigaSystem } from "./tools/taiga/access.ts";
import { createTaiga, type Taiga } from "./tools/taiga/taiga.ts";
import { loadUserTools } from "./tools/user-tools.ts";

export const version = "0.1.0";

export type Colloquy = {
  readonly url: string;
  /** Comes in as the owner where there are accounts; for commands on this machine. */
  readonly token: string;
  readonly database: Database;
  /** Whether files of other nodes are here too; `apart`: no work with files may be done in this process. */
  readonly fileProof: FileProof;
  readonly choice: ModelChoice;
  /** What was wrong with files of agents and tools; the rest works. */
  readonly problems: readonly string[];
  /** Stops accepting, lets running steps finish for ten seconds, hands the rest over. */
  readonly stop: () => Promise<void>;
};

export type StartOptions = {
  readonly log: Log;
  /** What takes so long, for a person. */
  readonly onStep?: (text: string) => void;
  /** Nothing works any more in this process; what was accepted goes on at the next start. */
  readonly onFatal?: (error: Error) => void;
  /** False: takes no runs, for a command that only looks. */
  readonly works?: boolean;
};

const graceMs = 10_000;

/** Config → store → models → tools → strategies → runs → HTTP. What was opened is closed again if a later part fails. */
export async function startColloquy(
  config: Config,
  { log, onStep, onFatal, works = true }: StartOptions,
): Promise<Colloquy> {
  const opened: (() => Promise<unknown> | void)[] = [];
  const close = async () => {
    for (const undo of opened.splice(0).reverse()) await undo();
  };
  try {
    const database = await openDatabase({
      ...(config.database === undefined ? {} : { url: config.database }),
      dataDirectory: config.data,
      log,
      ...(onStep ? { onStep } : {}),
    });
    opened.push(database.close);
    void database.failed?.then((error) => onFatal?.(error));
    await refuseHalfImported(database.query);
    await migrate(database);
    const secret = await ensureSecret(database.query, {
      dataDirectory: config.data,
      ...(config.secret === undefined ? {} : { configured: config.secret }),
    });
    const fileProof = await proveFiles(database, config.data);
    if (fileProof === "apart")
      log.warn({ data: config.data }, "this is not the data directory of the other nodes: no work with files here");
    const owner = await ensureOwner(database.query);

    const { kind: backend, ollamaModel, temperature } = config.backend;
    const choice = await chooseModels({
      models: config.models,
      wish: {
        ...(backend ? { backend } : {}),
        ...(ollamaModel ? { ollamaModel } : {}),
        ...(temperature === undefined ? {} : { temperature }),
      },
      probe: config.probe,
      ownPort: config.server.port,
    });
    const costOf = createPrices(config.prices);
    const priced = (record: ModelCallRecord): PricedCall => {
      const { model, inputTokens, outputTokens } = record;
      const cost = costOf(model, { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 });
      return cost === undefined ? record : { ...record, cost };
    };
    const callLog = createCallLog({ log, write: (records) => insertModelCalls(database.query, records.map(priced)) });
    opened.push(callLog.close);
    const promptLog = config.log.prompts
      ? createPromptLog({ path: join(config.data, "logs", "prompts.log"), secrets: keysOf(config), log })
      : undefined;
    if (promptLog) opened.push(promptLog.close);
    let ownPort = "";
    const models = createModels({
      models: choice.models,
      ...(promptLog ? { prompts: promptLog } : {}),
      isOwn: ({ hostname, port }) =>
        config.server.hosts.includes(hostname) || (port === ownPort && isLocalHost(hostname, config.server.host)),
    });
    opened.push(models.close);

    const userTools = await loadUserTools(config.tools, { taken: builtInTools });
    const tasks = createTaskCalls(database);
    const todo = createOwnServer({
      name: "todo",
      version,
      log,
      fetchFor: (caller) => inProcess(() => todoSurface(tasks, caller, version)),
    });
    opened.push(todo.close);
    const base = () => config.server.publicUrl ?? `http://localhost:${ownPort}`;
    const signIns = createSignIns({ credentials: createMcpCredentials(database.query, secret), secret, base });
    const mcp = createMcpServers({
      servers: config.mcpServers,
      version,
      environment: plainEnvironment(),
      log,
      works,
      own: [todo.source],
      credentialsFor: signIns.credentialsFor,
    });
    opened.push(mcp.close);
    if (works) opened.push(watchConfig(config, { log, onServers: (servers) => void mcp.update(servers) }));
    const taiga = config.taiga && openTaiga(config.taiga, database, secret);
    if (taiga) opened.push(taiga.close);
    const tools = createToolRegistry(
      [...builtInTools, ...(taiga?.tools ?? []), ...userTools.tools],
      mcp.sources,
      taiga ? [taiga.access] : [],
    );
    const { prompts, problems: promptProblems } = await loadPrompts({ folder: config.prompts, log });
    const { agents: written, problems } = await loadAgents({ folder: config.agents });
    const agents = withModels(written, models.list());
    const both = agents.list().find(({ id }) => models.has(id));
    if (both)
      throw new InvalidInput(`"${both.id}" names an agent and a model; rename one of them.`, {
        code: "config_invalid",
      });
    if (works) {
      const webhooks = startWebhooks({ database, hooks: config.webhooks, log });
      opened.push(() => webhooks.stop(2000));
    }
    const names = tools.list().map(({ name }) => name);
    const missing = new Set(agents.list().flatMap((agent) => missingTools(agent, names)));
    if (missing.size > 0) log.warn({ tools: [...missing] }, "agents name tools that are not there");
    const strays = agents
      .list()
      .flatMap(({ id, model, strategy }) => [
        ...(models.has(model) ? [] : [`agent ${id}: there is no model "${model}"`]),
        ...(strategy in strategies
          ? []
          : [`agent ${id}: there is no strategy "${strategy}"; there are ${Object.keys(strategies).join(", ")}`]),
      ]);
    const service = await createRuns({
      database,
      models,
      agents,
      tools,
      strategies,
      strategySettings: config.strategies,
      prompts,
      secret,
      limits: config.limits,
      concurrency: config.concurrency,
      retention: config.retention,
      approval: config.approval,
      deferAbove: config.mcp.deferAbove,
      costOf,
      works,
      hooksFor: (event) => config.webhooks.filter(({ events }) => events.includes(event)).map(({ name }) => name),
      log,
    });
    // At the same time: while answers may still finish, no new run is taken, and what does not finish is handed over.
    const serving: (() => Promise<unknown>)[] = [() => service.stop(graceMs)];
    opened.push(() => Promise.all(serving.map((stop) => stop())));

    const keys = createKeyFinder(database.query);
    const token = database.token ?? randomBytes(32).toString("hex");
    const caller: Caller = { userId: owner.id, name: owner.name, role: owner.role, permissions: ["*"], via: "local" };
    const app = await createApp({
      runs: service.runs,
      adminRuns: service.adminRuns,
      schedules: service.schedules,
      models,
      agents,
      tools,
      taiga: taiga?.access,
      mcp: createMcpSignIns(mcp, signIns, base),
      hooks: config.webhooks.map(({ name }) => name),
      callLog,
      health: async () => ({
        version,
        database: database.label,
        files: fileProof,
        active: service.active(),
        models: models.list(),
        mcpServers: mcp.states(),
      }),
      examine: async () => [
        ...(await examineDatabase(database, { dataDirectory: config.data, fileProof })),
        ...mcp.states().map(findingOf),
      ],
      tasks,
      users: createUserAdmin(database, keys),
      access:
        config.auth.mode === "local"
          ? { mode: "local", owner: caller }
          : { mode: "accounts", findByKey: keys.findByKey, local: { token, owner: caller } },
      server: {
        corsOrigins: config.server.corsOrigins,
        hosts: config.server.hosts,
        bodyLimit: config.server.bodyLimitBytes,
        graceMs,
      },
      log,
      version,
    });
    serving.push(() => app.close());
    const url = await listen(app, config);
    ownPort = new URL(url).port;
    database.announce?.({ url });
    return {
      url,
      token,
      database,
      fileProof,
      choice,
      problems: [...[...userTools.problems, ...promptProblems, ...problems].map(problemText), ...strays],
      stop: close,
    };
  } catch (error) {
    await close().catch((failed: unknown) => log.warn({ error: String(failed) }, "could not close everything"));
    throw error;
  }
}

async function listen(app: Awaited<ReturnType<typeof createApp>>, { server: { host, port } }: Config): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "EADDRINUSE") {
      throw new Conflict(
        `Port ${port} on ${host} is in use. Stop what uses it, or choose another: COLLOQUY_PORT=8001 npm start`,
        { code: "port_in_use", cause: error },
      );
    }
    if (code === "EACCES")
      throw new InvalidInput(`Port ${port} may not be used by this user; ports from 1024 up may.`, { cause: error });
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
      throw new InvalidInput(`This machine has no address ${host}.`, { cause: error });
    throw error;
  }
}

function isLocalHost(hostname: string, own: string): boolean {
  return hostname === own || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** Tokens that callers hand over for a run are kept sealed beside it. */
function openTaiga(
  { username, password, token, ...settings }: NonNullable<Config["taiga"]>,
  { query }: Database,
  secret: string,
): Taiga {
  const name = taigaSystem;
  return createTaiga({
    ...settings,
    login: token !== undefined ? { token } : username && password ? { username, password } : undefined,
    secrets: {
      read: (runId) => readRunSecret(query, secret, { runId, name }),
      replace: (runId, text) => replaceRunSecret(query, secret, { runId, name, text }),
    },
  });
}

/** Keys without a form of their own are masked by their value. */
function keysOf(config: Config): string[] {
  return config.models.flatMap((model) => ("apiKey" in model && model.apiKey !== undefined ? [model.apiKey] : []));
}

function problemText({
  file,
  line,
  message,
}: {
  readonly file: string;
  readonly line?: number;
  readonly message: string;
}): string {
  return `${file}${line === undefined ? "" : `:${line}`}: ${message}`;
}
