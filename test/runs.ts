import { defaultLimits, agentSchema, type AgentDefinition, type Limits } from "../src/protocol/agents/agents.ts";
import type { ApprovalPolicy } from "../src/protocol/agents/approval.ts";
import type { Caller } from "../src/protocol/base/callers.ts";
import type { RunEvent } from "../src/protocol/threads/events.ts";
import { silentLog, type Log } from "../src/protocol/base/log.ts";
import type { ToolSettings } from "../src/protocol/agents/tool-settings.ts";
import type { RightsSource, Tool, ToolSource } from "../src/protocol/agents/tools.ts";
import { loadPrompts } from "../src/agents/load-prompts.ts";
import { createAgentRegistry } from "../src/agents/registry.ts";
import type { ModelConfig } from "../src/models/config.ts";
import { createModels } from "../src/models/registry.ts";
import { createScripted, type Script } from "../src/models/demo/scripted.ts";
import { createRuns, type RunsOptions } from "../src/run/create-runs.ts";
import type { RunsService } from "../src/run/services.ts";
import type { RoomPlace, RunStart } from "../src/run/runs.ts";
import type { Strategy } from "../src/run/contract/turn.ts";
import { strategies } from "../src/run/strategies/strategies.ts";
import type { Database } from "../src/store/driver/database.ts";
import { ensureOwner } from "../src/store/people/users.ts";
import { builtInTools } from "../src/tools/built-in.ts";
import { createToolRegistry } from "../src/tools/core/registry.ts";

export type TestRuns = RunsService & {
  readonly caller: Caller;
  readonly model: ReturnType<typeof createScripted>;
  readonly database: Database;
  /** All events of a run until it ends or waits. */
  readonly events: (started: RunStart) => Promise<RunEvent[]>;
  /** Starts a run of the test's agent and waits for its end. */
  readonly ask: (
    content: string,
    options?: { threadId?: string; agent?: string; room?: RoomPlace },
  ) => Promise<{ started: RunStart; events: RunEvent[]; text: string }>;
};

export type TestRunsOptions = {
  readonly database: Database;
  readonly script: Script;
  /** Besides the scripted one. */
  readonly models?: readonly ModelConfig[];
  readonly tools?: readonly Tool[];
  readonly rights?: readonly RightsSource[];
  readonly toolSettings?: ToolSettings;
  readonly sources?: readonly ToolSource[];
  readonly instead?: ToolSource;
  readonly deferAbove?: number;
  readonly agent?: Partial<AgentDefinition>;
  /** Besides it. */
  readonly agents?: readonly (Partial<AgentDefinition> & Pick<AgentDefinition, "id">)[];
  readonly strategies?: Readonly<Record<string, Strategy>>;
  readonly strategySettings?: RunsOptions["strategySettings"];
  readonly limits?: Partial<Limits>;
  readonly perUser?: number;
  readonly log?: Log;
  readonly contextTokens?: number;
  readonly approval?: ApprovalPolicy;
  readonly sandbox?: RunsOptions["sandbox"];
  readonly costOf?: RunsOptions["costOf"];
  readonly hooksFor?: RunsOptions["hooksFor"];
  readonly mirror?: RunsOptions["mirror"];
  readonly outages?: RunsOptions["outages"];
  readonly runsJobs?: RunsOptions["runsJobs"];
  readonly titles?: RunsOptions["titles"];
};

/** As it is, but for its times. */
export const shortOutages = { retryMs: 60, baseMs: 5, firstMs: 20, longestMs: 60, waitMs: 86_400_000 };

/** The real thing, but for its model: a script. */
export async function startTestRuns(options: TestRunsOptions): Promise<TestRuns> {
  const { database } = options;
  const model = createScripted(
    options.script,
    options.contextTokens === undefined ? {} : { contextTokens: options.contextTokens },
  );
  const owner = await ensureOwner(database.query);
  const caller: Caller = { userId: owner.id, name: owner.name, role: "admin", permissions: ["*"], via: "local" };
  const agents = [{ id: "assistant", instructions: "Help.", ...options.agent }, ...(options.agents ?? [])].map(
    (agent) => ({ ...agentSchema.parse({ id: agent.id, model: "script", tools: ["*"] }), ...agent }),
  );
  const { prompts } = await loadPrompts({});
  const service = await createRuns({
    database,
    models: createModels({ models: options.models ?? [], adapters: { script: model }, isOwn: () => true }),
    agents: createAgentRegistry(agents),
    tools: createToolRegistry([...builtInTools, ...(options.tools ?? [])], options.sources, {
      rights: options.rights,
      settings: options.toolSettings,
      instead: options.instead,
    }),
    strategies: { ...strategies, ...options.strategies },
    prompts,
    secret: "a secret of tests",
    limits: { ...defaultLimits, onLimit: "stop", ...options.limits },
    concurrency: { perUser: options.perUser ?? 8, perNode: 64 },
    retention: { hiddenThreadsDays: 7, idempotencyHours: 24, clientWaitMinutes: 60, waitDays: 7 },
    log: options.log ?? silentLog,
    ...(options.strategySettings ? { strategySettings: options.strategySettings } : {}),
    ...(options.approval ? { approval: options.approval } : {}),
    ...(options.deferAbove === undefined ? {} : { deferAbove: options.deferAbove }),
    ...(options.costOf ? { costOf: options.costOf } : {}),
    ...(options.hooksFor ? { hooksFor: options.hooksFor } : {}),
    mirror: options.mirror,
    outages: { ...shortOutages, ...options.outages },
    sandbox: options.sandbox,
    titles: options.titles,
    ...(options.runsJobs === undefined ? {} : { runsJobs: options.runsJobs }),
  });
  const events = (started: RunStart) => eventsOf(service, started);
  return {
    ...service,
    caller,
    model,
    database,
    events,
    async ask(content, { threadId, agent = "assistant", room } = {}) {
      const started = await service.runs.start(caller, {
        agent,
        message: { content },
        ...(threadId === undefined ? {} : { threadId }),
        ...(room ? { room } : {}),
      });
      const seen = await events(started);
      return { started, events: seen, text: textIn(seen) };
    },
  };
}

export function eventsOf(service: RunsService, started: RunStart): Promise<RunEvent[]> {
  return new Promise((resolve, reject) => {
    const seen: RunEvent[] = [];
    const follower = service.runs.follow(started, started.cursor, {
      events(batch) {
        seen.push(...batch);
        const last = seen.at(-1)!;
        if (last.type !== "run-end" && last.type !== "run-wait") return;
        // The follower is not there yet if all was told at once.
        queueMicrotask(() => follower.close());
        resolve(seen);
      },
      error: reject,
    });
  });
}

/** The text that was told and not withdrawn. */
export function textIn(events: readonly RunEvent[]): string {
  const steps = new Map<string, string>();
  for (const event of events) {
    if (event.type === "text-delta") steps.set(event.step, (steps.get(event.step) ?? "") + event.text);
    else if (event.type === "step-retry") steps.delete(event.step);
  }
  return [...steps.values()].join("");
}
