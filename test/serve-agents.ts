import { loadPrompts } from "../src/agents/load-prompts.ts";
import { createAgentRegistry } from "../src/agents/registry.ts";
import { createUploads } from "../src/knowledge/uploads/uploads.ts";
import { createFileLinks } from "../src/http/files/file-links.ts";
import { createTaskCalls } from "../src/tools/basic/task-calls.ts";
import type { Services } from "../src/http/server/services.ts";
import type { Adapter } from "../src/models/transport/adapter.ts";
import { createModels, type ModelsOptions } from "../src/models/registry.ts";
import { createScripted, type Script, type ScriptedAdapter } from "../src/models/demo/scripted.ts";
import { agentSchema, defaultLimits, type AgentDefinition } from "../src/protocol/agents/agents.ts";
import type { Caller } from "../src/protocol/base/callers.ts";
import type { Tool } from "../src/protocol/agents/tools.ts";
import { silentLog } from "../src/protocol/base/log.ts";
import type { Approvals, Runs, Threads } from "../src/run/runs.ts";
import { loadRooms } from "../src/rooms/load-rooms.ts";
import { createPresence } from "../src/rooms/presence.ts";
import { withRoomAgents } from "../src/rooms/room-agents.ts";
import type { RoomFile } from "../src/rooms/room-file.ts";
import { createRooms } from "../src/rooms/rooms.ts";
import { roomStrategies } from "../src/rooms/strategies.ts";
import { createRuns, type RunsOptions } from "../src/run/create-runs.ts";
import type { RunsService } from "../src/run/services.ts";
import { strategies } from "../src/run/strategies/strategies.ts";
import { createWorkspaces, type Workspaces } from "../src/sandbox/workspace/workspaces.ts";
import type { Database } from "../src/store/driver/database.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { createAuditLog } from "../src/store/metering/audit-log.ts";
import { readModelHealth, readUsage } from "../src/store/metering/usage.ts";
import { createFolders } from "../src/store/folders.ts";
import { createListChanges } from "../src/store/people/list-changes.ts";
import { createPreferences } from "../src/store/people/preferences.ts";
import { createTaskList } from "../src/store/tasks/task-list.ts";
import { createShares } from "../src/store/shares.ts";
import { ensureOwner } from "../src/store/people/users.ts";
import { builtInTools } from "../src/tools/built-in.ts";
import { createToolRegistry } from "../src/tools/core/registry.ts";
import { freshDataDirectory, temporaryFolder } from "./pglite.ts";
import { openTestTaiga } from "./open-taiga.ts";
import { shortOutages } from "./runs.ts";
import { serve, servicesWith, type Serving } from "./serve.ts";

export type AgentServing = Serving & {
  readonly services: Services;
  readonly runs: Runs;
  readonly threads: Threads;
  readonly approvals: Approvals;
  readonly service: RunsService;
  readonly model: ScriptedAdapter;
  readonly database: Database;
  readonly caller: Caller;
};

export type AgentServingOptions = Pick<RunsOptions, "approval" | "sourceText" | "outages"> & {
  /** Absent: a new PGlite. */
  readonly database?: Database;
  readonly limits?: Partial<RunsOptions["limits"]>;
  readonly tools?: readonly Tool[];
  readonly agents?: readonly AgentDefinition[];
  /** Besides the built-in ones. */
  readonly rooms?: readonly RoomFile[];
  readonly strategies?: RunsOptions["strategies"];
  readonly perUser?: number;
  readonly models?: ModelsOptions["models"];
  readonly isOwn?: ModelsOptions["isOwn"];
  /** Where a Taiga is, for the agent of that name. */
  readonly taigaUrl?: string;
  /** Absent: new ones, that no tool works in. */
  readonly workspaces?: Workspaces;
};

/** A whole server: the agent `assistant` with the built-in tools, answered for by the model `script`. */
export async function serveAgents(
  script: Script,
  adapters: Readonly<Record<string, Adapter>> = {},
  options: AgentServingOptions = {},
): Promise<AgentServing> {
  const database = options.database ?? (await openDatabase({ dataDirectory: await freshDataDirectory() }));
  await migrate(database);
  const owner = await ensureOwner(database.query);
  const caller: Caller = { userId: owner.id, name: owner.name, role: "admin", permissions: ["*"], via: "local" };
  const model = createScripted(script);
  const { rooms: roomFiles } = await loadRooms({});
  const models = createModels({
    models: [{ id: "default", fallback: ["script"] }, ...(options.models ?? [])],
    ...(options.isOwn ? { isOwn: options.isOwn } : {}),
    adapters: { script: model, ...adapters },
  });
  const instructions = "You are kind. SECRET-INSTRUCTIONS";
  const taiga = options.taigaUrl === undefined ? undefined : await openTestTaiga(database, { url: options.taigaUrl });
  const agents = withRoomAgents(
    createAgentRegistry([
      agentSchema.parse({ id: "assistant", model: "default", tools: ["*"], instructions }),
      ...(options.agents ?? []),
      ...(taiga ? [taiga.agent] : []),
    ]),
    [...roomFiles, ...(options.rooms ?? [])],
  );
  const { prompts } = await loadPrompts({});
  const tools = createToolRegistry(
    [...builtInTools, ...(options.tools ?? []), ...(taiga?.tools ?? [])],
    [],
    taiga ? { rights: [taiga.access] } : {},
  );
  const uploads = createUploads({
    database,
    folder: temporaryFolder("uploads"),
    fileBytes: 1024 * 1024,
    limits: { files: 10, bytes: 3 * 1024 * 1024 },
    log: silentLog,
  });
  const listChanges = createListChanges(database);
  const service = await createRuns({
    database,
    models,
    imageUrl: uploads.imageUrl,
    removeUpload: uploads.removeById,
    onRunEnd: listChanges.runEnded,
    agents,
    tools,
    strategies: { ...strategies, ...roomStrategies, ...options.strategies },
    prompts,
    secret: "a secret of tests",
    limits: { ...defaultLimits, ...options.limits },
    approval: options.approval,
    outages: { ...shortOutages, ...options.outages },
    ...(options.sourceText && { sourceText: options.sourceText }),
    concurrency: { perUser: options.perUser ?? 8, perNode: 64 },
    retention: { hiddenThreadsDays: 7, idempotencyHours: 24, clientWaitMinutes: 60, waitDays: 7 },
    log: silentLog,
  });
  const { runs, threads, approvals } = service;
  const presence = createPresence({ query: database.query, log: silentLog });
  const services = servicesWith({
    models,
    agents,
    tools,
    runs,
    threads,
    approvals,
    adminRuns: service.adminRuns,
    schedules: service.schedules,
    tasks: createTaskCalls(database),
    taskList: createTaskList(database),
    folders: createFolders(database),
    listChanges,
    preferences: createPreferences(database.query),
    taiga: taiga?.access,
    taigaSessions: taiga?.desk,
    shares: createShares(database.query),
    rooms: createRooms({
      query: database.query,
      runs,
      threads,
      approvals,
      agents,
      files: [...roomFiles, ...(options.rooms ?? [])],
    }),
    presence,
    uploads,
    overview: {
      usage: (question) => readUsage(database.query, question),
      modelHealth: () => readModelHealth(database.query),
      settings: () => [],
      audit: createAuditLog(database.query, silentLog),
    },
    workspaces: options.workspaces ?? createWorkspaces({ folder: temporaryFolder("scratch") }),
    fileLinks: createFileLinks({ secret: "a secret of tests", isOpen: true }),
    access: { mode: "local", owner: caller, owning: "open" },
  });
  const serving = await serve(services);
  return {
    ...serving,
    services,
    runs,
    threads,
    approvals,
    service,
    model,
    database,
    caller,
    async close() {
      await serving.close();
      presence.close();
      await service.stop(0);
      await models.close();
      await taiga?.close();
      if (!options.database) await database.close();
    },
  };
}
