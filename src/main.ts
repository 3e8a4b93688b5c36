import { join } from "node:path";
import { loadPrompts } from "./agents/load-prompts.ts";
import { toolSettingsOf } from "./config/sections/tools.ts";
import { outagesOf } from "./config/sections/outages.ts";
import { shownSetting } from "./config/shown-setting.ts";
import { describeConfig, plainEnvironment } from "./config/load.ts";
import { type Config } from "./config/schema.ts";
import { openAccess, type OpenAccess, serverSettingsOf, openSpending } from "./app/access.ts";
import { definitionFindings, openDefinitions } from "./app/definitions.ts";
import { openModels } from "./app/models.ts";
import { type Opened, openStore } from "./app/store.ts";
import { codeFindings, ownToolsOf } from "./app/tools.ts";
import { configuredRetention, openPersonal } from "./app/people.ts";
import { retentionFindings } from "./people/retention.ts";

import { checkDiskBy } from "./app/free-disk.ts";
import { openKnowledge } from "./app/knowledge.ts";
import { keepIndexes, openRetrieval, rerankersOf, sourceTextOf, tracesOf } from "./app/retrieval.ts";
import { openRooms, roomProblems, serveRooms, withRoomModels } from "./app/rooms.ts";
import { beginRemovingUploads, uploadsOf, withAttachedFiles } from "./app/uploads.ts";
import { openWorkspaceTotals, spaceFindings } from "./app/workspace-totals.ts";
import { beginRemovingFiles, workspacesOf } from "./app/workspaces.ts";
import { websearchFindings } from "./app/web-tools.ts";
import { sandboxFindings, sandboxOf, spaceOf, unmetDemands } from "./app/sandbox.ts";
import { createApp } from "./http/app.ts";
import { createFileLinks } from "./http/files/file-links.ts";
import { relayWire } from "./http/dialects/chat-completions/relay-wire.ts";
import { inProcess } from "./http/mcp/in-process.ts";
import { createTaskCalls } from "./tools/basic/task-calls.ts";
import { todoSurface } from "./http/mcp/todo-features.ts";
import { listen } from "./http/server/listen.ts";
import { loadPage } from "./http/files/page-files.ts";
import { startWebhooks } from "./webhooks/deliver.ts";
import type { ModelChoice } from "./models/discovery/choose.ts";
import { openToolsServer, strayToolModels, toolsServerFinding, withoutSandboxed } from "./app/remote-tools.ts";
import { messageOf } from "./protocol/base/errors.ts";
import type { Log } from "./protocol/base/log.ts";
import { version } from "./protocol/base/version.ts";
import { withRooms } from "./rooms/room-agents.ts";
import { roomStrategies } from "./rooms/strategies.ts";
import { createRuns, type RunsOptions } from "./run/create-runs.ts";
import { strategies } from "./run/strategies/strategies.ts";
import type { SandboxSource } from "./sandbox/sandbox.ts";
import type { Database } from "./store/driver/database.ts";
import { examineDatabase } from "./store/installation/examine.ts";
import { createMcpCredentials } from "./store/secrets/mcp-credentials.ts";
import type { FileProof } from "./store/installation/data-folder.ts";
import { readRunSecret, replaceRunSecret } from "./store/secrets/run-secrets.ts";
import { createAuditLog } from "./store/metering/audit-log.ts";
import { readModelHealth, readUsage } from "./store/metering/usage.ts";
import { createTaskList } from "./store/tasks/task-list.ts";
import { createShares } from "./store/shares.ts";
import { findingOf, createMcpServers } from "./tools/mcp/mcp-servers.ts";

import { createMcpSignIns } from "./tools/mcp/sign-in/mcp-sign-ins.ts";
import { createSignIns } from "./tools/mcp/sign-in/sign-ins.ts";
import { createOwnServer } from "./tools/mcp/own-server.ts";
import { createModelRelay } from "./tools/core/model-relay.ts";
import { createToolRegistry } from "./tools/core/registry.ts";
import { taigaSystem } from "./tools/taiga/access.ts";
import { createTaiga, type Taiga } from "./tools/taiga/taiga.ts";
import { loadUserTools } from "./tools/core/user-tools.ts";

export type Colloquy = {
  readonly url: string;
  /** Comes in as the owner where there are accounts; for commands on this machine. */
  readonly token: string;
  /** Where the first admin is made; undefined where there is one, and in local mode. */
  readonly setupLink: () => Promise<string | undefined>;
  /** Makes codes for links that let a browser in; undefined: none is needed. */
  readonly codeMaker: OpenAccess["codeMaker"];
  readonly database: Database;
  /** Whether files of other nodes are here too; `apart`: no work with files may be done in this process. */
  readonly fileProof: FileProof;
  readonly choice: ModelChoice;
  /** `unmet`: which agents demand more of it, a sentence each. */
  readonly sandbox: SandboxSource & { readonly unmet: () => Promise<readonly string[]> };
  /** What was wrong with files of agents and tools; the rest works. */
  readonly problems: readonly string[];
  /** Refuses what is new, lets what is at work finish for ten seconds, hands the rest over. */
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
  /** Of requests, only those that failed or were slow are logged at level info. */
  readonly quiet?: boolean;
};

const graceMs = 10_000;

/** Config → store → models → tools → strategies → runs → HTTP. What was opened is closed again if a later part fails. */
export async function startColloquy(
  config: Config,
  { log, onStep, onFatal, works = true, quiet = false }: StartOptions,
): Promise<Colloquy> {
  const opened: Opened = [];
  const close = async () => {
    for (const undo of opened.splice(0).reverse())
      try {
        await undo();
      } catch (error) {
        log.warn({ error: messageOf(error) }, "could not close everything");
      }
  };
  try {
    const totals = openWorkspaceTotals(config);
    const space = spaceOf(config, totals.totals);
    const sandbox = sandboxOf(config, space);
    opened.push(sandbox.close);
    // While the rest starts; whoever needs it waits for it.
    if (works) void sandbox.state();
    const { database, secret, fileProof, owner } = await openStore(config, { log, onStep, opened });
    void database.failed?.then((error) => onFatal?.(error));

    let ownPort = "";
    let ownUrl = "";
    const { costOf, ...openedModels } = await openModels(config, {
      database,
      log,
      opened,
      ownPort: () => ownPort,
    });
    const openedRooms = await openRooms(config, database);
    const { callLog } = openedModels;
    const models = withRoomModels(openedModels.models, openedRooms.files, { ...openedModels, opened });

    const audit = createAuditLog(database.query, log);
    opened.push(audit.close);
    const checkDisk = checkDiskBy(space);
    const uploads = uploadsOf(config, { database, fileProof, checkDisk, log });
    const bareWorkspaces = workspacesOf(config, { fileProof, sandbox, space, templateFor: openedRooms.templateFor });
    const workspaces = withAttachedFiles(bareWorkspaces, { uploads, database, log });
    if (works && fileProof === "shared") opened.push(beginRemovingUploads(uploads, log));
    const indexes = keepIndexes({ database: database.maintenance, log }, works);
    opened.push(indexes.close);
    const knowledge = await openKnowledge(config, {
      ...{ database: database.listing, fileProof, checkDisk, log, works, onReady: indexes.wake },
    });
    opened.push(knowledge.close);
    const { retrieve, close: closeRetrieval } = openRetrieval(config, { database: database.listing, knowledge, log });
    opened.push(closeRetrieval);
    if (works && fileProof === "shared") {
      opened.push(beginRemovingFiles(workspaces, { database: database.listing, log }));
      opened.push(totals.begin(workspaces, { query: database.listing.query, log }));
    }
    const spending = openSpending({ query: database.query, costOf, log, works });
    opened.push(async () => spending.close());
    const relay = createModelRelay(relayWire);
    const ownTools = ownToolsOf(config, {
      ...{ sandbox, workspaces, relay, retrieve, works },
      prompts: () => prompts,
      ownPort: () => Number(ownPort),
    });
    const userTools = await loadUserTools(config.tools.folder, { taken: ownTools });
    const tasks = createTaskCalls(database);
    const todo = createOwnServer({
      name: "todo",
      version,
      log,
      unasked: tasks.tools.filter((tool) => tool.unasked).map((tool) => tool.name),
      fetchFor: (caller) => inProcess(() => todoSurface(tasks, caller, version)),
    });
    opened.push(todo.close);
    const base = () => `${config.server.publicUrl ?? `http://localhost:${ownPort}`}${config.server.basePath}`;
    const signIns = createSignIns({ credentials: createMcpCredentials(database.query, secret), secret, base });
    const listening = Promise.withResolvers<void>();
    const mcp = createMcpServers({
      servers: config.mcpServers,
      // Many servers would share the start's CPU, and nobody asks for them before.
      after: listening.promise,
      version,
      environment: plainEnvironment(),
      log,
      works,
      own: [todo.source],
      credentialsFor: signIns.credentialsFor,
    });
    opened.push(mcp.close);
    const taiga = config.taiga && openTaiga(config.taiga, database, secret);
    if (taiga) opened.push(taiga.close);
    const toolsServer = works ? openToolsServer(config, { relay, ownUrl: () => ownUrl, log }) : undefined;
    if (toolsServer) opened.push(toolsServer.close);
    const toolsHere = [...ownTools, ...(taiga?.tools ?? []), ...userTools.tools];
    const toolSettings = toolSettingsOf(config.tools);
    const tools = createToolRegistry(toolsServer ? withoutSandboxed(toolsHere) : toolsHere, mcp.sources, {
      rights: taiga ? [taiga.access] : [],
      settings: toolSettings,
      instead: toolsServer?.source,
    });
    const { prompts, problems: promptProblems } = await loadPrompts({ folder: config.prompts, log });
    const {
      agents: alone,
      definitions,
      trials,
      problems,
      strays,
    } = await openDefinitions(config, {
      ...openedModels,
      database,
      secret,
      servers: mcp,
      rooms: openedRooms.files.map(({ id }) => id),
      toolNames: () => [...tools.list(), ...toolsHere].map(({ name }) => name),
      version,
      works,
      opened,
      log,
    });
    const agents = withRooms(alone, openedRooms.files);
    if (works) {
      const webhooks = startWebhooks({ database, hooks: config.webhooks, log });
      opened.push(() => webhooks.stop(2000));
    }
    const service = await createRuns({
      database,
      models,
      agents,
      tools,
      strategies: { ...strategies, ...roomStrategies },
      strategySettings: config.strategies,
      prompts,
      secret,
      limits: config.limits,
      concurrency: config.concurrency,
      outages: outagesOf(config.outages),
      retention: config.retention,
      approval: config.approval,
      sandbox: toolsServer ? async () => toolsServer.sandbox() : sandbox.state,
      deferAbove: config.mcp.deferAbove,
      mirror: mirrorOf(config, owner.id),
      onRunEnd: mcp.runEnded,
      imageUrl: uploads.imageUrl,
      sourceText: sourceTextOf(knowledge),
      costOf,
      works,
      hooksFor: (event) => config.webhooks.filter(({ events }) => events.includes(event)).map(({ name }) => name),
      log,
    });
    opened.push(() => service.stop(graceMs));

    const {
      access,
      users,
      token,
      setupToken,
      codeMaker,
      counts,
      forget,
      close: closeAccess,
    } = await openAccess(config, { database, secret, owner, log });
    opened.push(closeAccess);
    const personal = openPersonal(config, {
      ...{ database: database.listing, service, uploads, fileProof, knowledge, forget, log, works, opened },
      // What was uploaded is among a person's data by itself.
      workspaces: bareWorkspaces,
      signOut: createMcpSignIns(mcp, signIns, base).forget,
    });
    const app = await createApp({
      page: loadPage(join(import.meta.dirname, "../.cache/page")),
      runs: service.runs,
      adminRuns: service.adminRuns,
      schedules: service.schedules,
      models,
      agents,
      tools,
      relay,
      workspaces,
      fileLinks: createFileLinks({ secret, isOpen: access.mode === "local" && access.owning === "open" }),
      taiga: taiga?.access,
      taigaDesk: taiga?.desk,
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
        ...(toolsServer ? { toolsServer: toolsServer.state() } : {}),
        sandbox: sandbox.known() ?? "not tried yet",
        space: { ...totals.state(), reservedBytes: space.reserved() },
      }),
      unready: service.unready,
      drain: service.drain,
      examine: async () => [
        ...(await examineDatabase(database.maintenance, { dataDirectory: config.data, fileProof })),
        ...mcp.states().map(findingOf),
        ...(toolsServer ? [toolsServerFinding(toolsServer.state())] : []),
        ...(await definitionFindings({ definitions, strays })),
        ...sandboxFindings(await sandbox.state()),
        ...(await codeFindings(config)),
        ...(await spaceFindings(config, { space, state: totals.state() })),
        ...(await retentionFindings(database.listing.query, configuredRetention(config))),
        ...websearchFindings(config),
      ],
      probes: () => definitions.choice().probes,
      tasks,
      taskList: createTaskList(database),
      users,
      shares: createShares(database.query),
      uploads,
      knowledge,
      retrieval: { retrieve, traces: tracesOf(database.listing.query, knowledge), rerankers: rerankersOf(config) },
      ...serveRooms(openedRooms, { query: database.query, runs: service.runs, agents, log, opened }),
      ragFolders: config.rag.folders,
      overview: {
        usage: (question) => readUsage(database.listing.query, question),
        modelHealth: () => readModelHealth(database.listing.query),
        settings: () =>
          describeConfig(config).map(({ path, value, source }) => ({ path, value: shownSetting(path, value), source })),
        audit,
      },
      definitions,
      trials,
      spending,
      ...personal,
      access,
      server: { ...serverSettingsOf(config, counts), graceMs, quiet },
      log,
      version,
    });
    // Before anything else, so that probes hear at once that this node stops.
    opened.push(() => app.close());
    const url = await listen(app, { ...config.server, advice: "COLLOQUY_PORT=8010 npm start" });
    ownPort = new URL(url).port;
    ownUrl = url;
    listening.resolve();
    database.announce?.({ url });
    return {
      url,
      token,
      async setupLink() {
        const setup = await setupToken();
        return setup === undefined
          ? undefined
          : `${config.server.publicUrl ?? url}${config.server.basePath}/setup#${setup}`;
      },
      codeMaker,
      database,
      fileProof,
      choice: definitions.choice(),
      sandbox: { ...sandbox, unmet: async () => unmetDemands(agents, await sandbox.state()) },
      problems: [
        ...[...userTools.problems, ...promptProblems, ...problems].map(problemText),
        ...strays(),
        ...roomProblems(openedRooms, { agents: alone, models }),
        ...strayToolModels(toolSettings, models.has),
      ],
      stop: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function mirrorOf({ sessions, auth, data }: Config, ownerId: string): RunsOptions["mirror"] {
  const isLocal = auth.mode === "local";
  if (!(sessions.mirror ?? isLocal)) return undefined;
  return { folder: join(data, "sessions"), namedFor: isLocal ? ownerId : undefined };
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
