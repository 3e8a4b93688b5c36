import type { Finding } from "../protocol/people/overview.ts";
import { withModels } from "../agents/choose-model.ts";
import { createLiveAgents } from "../agents/registry.ts";
import { loadAgents, type AgentProblem } from "../agents/load.ts";
import { unknownReferences, type KnownNames } from "../agents/unknown-references.ts";
import { plainEnvironment } from "../config/load.ts";
import { type Config, modelChoiceOf } from "../config/schema.ts";
import { watchConfig } from "../config/watch.ts";
import { createDefinitions, type Definitions } from "../definitions/definitions.ts";
import { createTrials } from "../definitions/trials.ts";
import type { Services } from "../http/server/services.ts";
import type { ModelChoice } from "../models/discovery/choose.ts";
import type { AgentRegistry } from "../protocol/agents/agents.ts";
import { definitionKinds, type DefinitionPlace } from "../protocol/agents/definitions.ts";
import { InvalidInput } from "../protocol/base/errors.ts";
import type { Log } from "../protocol/base/log.ts";
import { version } from "../protocol/base/version.ts";
import { withRoomAgents } from "../rooms/room-agents.ts";
import { strategies } from "../run/strategies/strategies.ts";
import type { OpenMcp } from "./mcp.ts";
import type { OpenedModels } from "./models.ts";
import { createCapabilityStack } from "./start/capability-stack.ts";
import type { OpenedRooms } from "./rooms.ts";
import type { Store } from "./store.ts";
import type { OpenTools } from "./tools.ts";

export type OpenDefinitions = {
  /** Those of files, of the database and built in, and the rooms; changes while the server runs. */
  readonly agents: AgentRegistry;
  readonly agentsWithoutRooms: AgentRegistry;
  readonly definitions: Definitions;
  /** Of files with agents. */
  readonly problems: readonly AgentProblem[];
  /** What these name that is not there, a sentence each. */
  readonly strays: () => readonly string[];
  readonly services: Pick<Services, "agents" | "definitions" | "trials" | "probes">;
  readonly findings: () => Promise<readonly Finding[]>;
  readonly close: () => Promise<void>;
};

type DefinitionsDeps = {
  readonly store: Pick<Store, "database" | "secret">;
  readonly models: Pick<OpenedModels, "choice" | "changeable" | "callLog" | "isOwn" | "addresses" | "hide">;
  readonly mcp: Pick<OpenMcp, "servers">;
  readonly tools: Pick<OpenTools, "names">;
  readonly rooms: Pick<OpenedRooms, "files">;
  readonly log: Log;
  readonly runsJobs: boolean;
};

/** Opens the definitions of agents, models and MCP servers from all sources, and their administration. */
export async function openDefinitions(config: Config, deps: DefinitionsDeps): Promise<OpenDefinitions> {
  const { store, tools, rooms, runsJobs, log } = deps;
  const { choice, changeable: models, callLog, isOwn, addresses, hide } = deps.models;
  const { servers } = deps.mcp;
  await using opening = createCapabilityStack(log);
  const { agents: written, own, files, problems } = await loadAgents({ folder: config.agents });
  const agents = createLiveAgents(withModels(written, models.list()), (defined) =>
    withRoomAgents(defined, rooms.files),
  );
  const both = agents.list().find(({ id }) => models.has(id));
  if (both)
    throw new InvalidInput(`"${both.id}" names an agent and a model; rename one of them.`, { code: "config_invalid" });
  const knownNames = (): KnownNames => ({
    agents: agents.list().map(({ id }) => id),
    strategies: Object.keys(strategies),
    tools: [...new Set(tools.names())],
    toolPrefixes: servers.sources.map(({ prefix }) => prefix ?? ""),
    hasModel: models.has,
  });
  const { models: configured, wish } = modelChoiceOf(config);
  const definitions = await createDefinitions({
    database: store.database,
    secret: store.secret,
    programs: (config.definitions.programs ?? (config.auth.mode === "local" ? "admins" : "off")) === "admins",
    base: {
      models: configured,
      wish,
      choice,
      agents: written.list(),
      agentFiles: files,
      rooms: rooms.files.map(({ id }) => id),
      servers: config.mcpServers,
      defaultAgent:
        config.defaultAgent === undefined ? undefined : { id: config.defaultAgent, ...placeAt(config, "defaultAgent") },
      placeOf: placesIn(config),
    },
    models: {
      ...models,
      update(all, ofAdmins) {
        for (const model of all) if ("apiKey" in model && model.apiKey !== undefined) hide(model.apiKey);
        models.update(all, ofAdmins);
      },
    },
    agents,
    servers: runsJobs ? servers : undefined,
    strategies: Object.keys(strategies),
    whyNotAsked: addresses.whyNotAsked,
    knownNames,
    log,
  });
  if (runsJobs) {
    opening.add({ close: await definitions.follow() });
    const onServers = (changed: Config) =>
      definitions.reconfigure({ servers: changed.mcpServers, placeOf: placesIn(changed) });
    opening.add({ close: watchConfig(config, { log, onServers }) });
  }
  const trials = createTrials({
    definitions,
    servers,
    onCall: (record) => callLog.add(record),
    isOwn,
    connect: addresses.connect,
    version,
    environment: plainEnvironment(),
    log,
  });
  // What is built in may name tools that come with what is not set up here; doctor tells of them.
  const strays = () => {
    const known = knownNames();
    const { problem } = definitions.readDefault("agent");
    return [
      ...agents.list().flatMap((agent) => (own.has(agent.id) ? unknownReferences(agent, known) : [])),
      ...(problem === null ? [] : [`the default agent: ${problem}`]),
    ];
  };
  return {
    ...{ agents: agents.all, agentsWithoutRooms: agents, definitions, problems, strays },
    services: { agents: agents.all, definitions, trials, probes: () => definitions.choice().probes },
    findings: () => definitionFindings({ definitions, strays }),
    close: opening.done(),
  };
}

/** For doctor: what `default` is, names that lead nowhere, and what admins have defined and does not count. */
async function definitionFindings({
  definitions,
  strays,
}: Pick<OpenDefinitions, "definitions" | "strays">): Promise<Finding[]> {
  const lost = strays().map((text): Finding => ({ grade: "trouble", about: "agents", text }));
  const apart = definitionKinds.flatMap((kind) =>
    definitions.entries(kind).flatMap(({ id, state, problems, stored }): Finding[] => {
      if (!stored || state === "active") return [];
      const text = `${kind} ${id} is ${state}: ${problems.map(({ message }) => message).join("; ")}`;
      return [{ grade: state === "refused" ? "trouble" : "note", about: "defined", text }];
    }),
  );
  return [modelFinding(definitions.choice()), ...lost, ...apart, ...(await misplacedModels(definitions))];
}

/** Models that count and are not asked, since they are where admins may have none: what may be has changed, or their name. */
async function misplacedModels(definitions: Definitions): Promise<Finding[]> {
  const ours = definitions.entries("model").filter(({ stored, state }) => stored && state === "active");
  const looked = ours.map(async ({ id, definition }): Promise<Finding[]> => {
    const { problems } = await definitions.examine("model", { id, definition });
    return problems.map(({ message }) => ({ grade: "trouble", about: "defined", text: `model ${id}: ${message}` }));
  });
  return (await Promise.all(looked)).flat();
}

/** For doctor: what `default` is. */
export function modelFinding({ demo, detail }: ModelChoice): Finding {
  return { grade: demo ? "note" : "ok", about: "model", text: detail };
}

/** Where an entry of the configuration is set. */
function placesIn(config: Config) {
  return (kind: "model" | "mcp-server", id: string): DefinitionPlace => {
    if (kind === "mcp-server") return placeAt(config, `mcpServers.${id}`);
    const at = config.models.findIndex((model) => model.id === id);
    // `default` may be said by naming the server to take.
    return placeAt(config, at === -1 ? "backend" : `models[${at}]`);
  };
}

/** Where a group of settings or one of them is set; the environment comes first. */
function placeAt({ source }: Config, path: string): DefinitionPlace {
  const places = [...source]
    .filter(([name, from]) => (name === path || name.startsWith(`${path}.`)) && from !== "default")
    .map(([, from]) => from);
  const fromEnvironment = places.find((from) => from.startsWith("environment "));
  if (fromEnvironment !== undefined) return { source: "environment", where: fromEnvironment };
  return { source: "file", where: places[0] ?? null };
}
