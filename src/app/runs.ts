import { join } from "node:path";
import type { LoadedPrompts } from "../agents/load-prompts.ts";
import type { Config } from "../config/schema.ts";
import { outagesOf } from "../config/sections/outages.ts";
import type { HealthDetails, Services } from "../http/server/services.ts";
import type { Log } from "../protocol/base/log.ts";
import { roomStrategies } from "../rooms/strategies.ts";
import { createRuns, type RunsOptions } from "../run/create-runs.ts";
import type { RunsService } from "../run/services.ts";
import { strategies } from "../run/strategies/strategies.ts";
import type { SandboxSource } from "../sandbox/sandbox.ts";
import type { OpenDefinitions } from "./definitions.ts";
import type { OpenKnowledge } from "./knowledge.ts";
import type { OpenLists } from "./lists.ts";
import type { OpenMcp } from "./mcp.ts";
import type { OpenedModels } from "./models.ts";
import type { OpenToolsServer } from "./remote-tools.ts";
import { sourceTextOf } from "./retrieval.ts";
import type { OpenSpending } from "./spending.ts";
import type { Store } from "./store.ts";
import type { OpenTools } from "./tools.ts";
import type { OpenUploads } from "./uploads.ts";
import type { OpenWebhooks } from "./webhooks.ts";

export type OpenRuns = RunsService & {
  readonly services: Pick<Services, "runs" | "threads" | "approvals" | "adminRuns" | "schedules" | "unready" | "drain">;
  readonly health: () => HealthDetails;
  readonly close: () => Promise<void>;
};

type RunsDeps = {
  readonly store: Pick<Store, "database" | "secret" | "owner" | "fileProof">;
  readonly models: Pick<OpenedModels, "models" | "costOf" | "callLog">;
  readonly spending: Pick<OpenSpending, "services">;
  readonly definitions: Pick<OpenDefinitions, "agents">;
  readonly tools: Pick<OpenTools, "tools">;
  readonly toolsServer: Pick<OpenToolsServer, "remote">;
  readonly sandbox: SandboxSource;
  readonly mcp: Pick<OpenMcp, "servers">;
  readonly lists: Pick<OpenLists, "services">;
  readonly uploads: Pick<OpenUploads, "uploads">;
  readonly knowledge: Pick<OpenKnowledge, "knowledge">;
  readonly webhooks: Pick<OpenWebhooks, "hooksFor">;
  readonly prompts: Pick<LoadedPrompts, "prompts">;
  readonly log: Log;
  readonly node: string;
  readonly runsJobs: boolean;
  /** How long runs that are at work may take at stop. */
  readonly graceMs: number;
};

/** Conversations, and the runs that work in them. */
export async function openRuns(config: Config, deps: RunsDeps): Promise<OpenRuns> {
  const { store, models, toolsServer, sandbox, prompts, log, node, runsJobs, graceMs } = deps;
  const { remote } = toolsServer;
  const service = await createRuns({
    node,
    database: store.database,
    models: models.models,
    agents: deps.definitions.agents,
    tools: deps.tools.tools,
    strategies: { ...strategies, ...roomStrategies },
    strategySettings: config.strategies,
    prompts: prompts.prompts,
    secret: store.secret,
    limits: config.limits,
    concurrency: config.concurrency,
    outages: outagesOf(config.outages),
    retention: config.retention,
    approval: config.approval,
    sandbox: remote ? async () => remote.sandbox() : sandbox.state,
    deferAbove: config.mcp.deferAbove,
    mirror: mirrorOf(config, store.owner.id),
    titles: {
      ...config.titles,
      reserve: deps.spending.services.spending.holds.begin,
      record: models.callLog.add,
    },
    onRunEnd(runId) {
      deps.mcp.servers.runEnded(runId);
      deps.lists.services.listChanges.runEnded(runId);
    },
    imageUrl: deps.uploads.uploads.imageUrl,
    removeUpload: store.fileProof === "shared" ? deps.uploads.uploads.removeById : undefined,
    sourceText: sourceTextOf(deps.knowledge.knowledge),
    costOf: models.costOf,
    runsJobs,
    hooksFor: deps.webhooks.hooksFor,
    log,
  });
  const { runs, threads, approvals, adminRuns, schedules, unready, drain } = service;
  return {
    ...service,
    services: { runs, threads, approvals, adminRuns, schedules, unready, drain },
    health: () => ({ node, active: service.active() }),
    close: () => service.stop(graceMs),
  };
}

function mirrorOf({ sessions, auth, data }: Config, ownerId: string): RunsOptions["mirror"] {
  const isLocal = auth.mode === "local";
  if (!(sessions.mirror ?? isLocal)) return undefined;
  return { folder: join(data, "sessions"), namedFor: isLocal ? ownerId : undefined };
}
