import type { Config } from "../config/schema.ts";
import { environmentVariable } from "../config/load.ts";
import type { Services } from "../http/server/services.ts";
import { createModels } from "../models/registry.ts";
import type { AgentRegistry } from "../protocol/agents/agents.ts";
import type { Log } from "../protocol/base/log.ts";
import type { ModelConfig } from "../models/config.ts";
import type { ModelRegistry } from "../protocol/agents/models.ts";
import type { Query } from "../protocol/agents/tools.ts";
import { loadRooms, type RoomProblem } from "../rooms/load-rooms.ts";
import { createPresence } from "../rooms/presence.ts";
import { modelIdOf, unknownMembers } from "../rooms/room-agents.ts";
import type { RoomFile } from "../rooms/room-file.ts";
import { createRooms } from "../rooms/rooms.ts";
import type { RunsService } from "../run/services.ts";
import type { Store } from "./store.ts";

export type OpenedRooms = {
  readonly files: readonly RoomFile[];
  readonly problems: readonly RoomProblem[];
  /** The folder that the workspace of a thread begins with, if it is that of a room which says so. */
  readonly templateFor: (threadId: string) => Promise<string | undefined>;
};

/** The rooms of the configuration, before anything that works in them. */
export async function openRooms(
  config: Config,
  { store }: { readonly store: { readonly database: { readonly query: Query } } },
): Promise<OpenedRooms> {
  const { query } = store.database;
  const { rooms: files, problems } = await loadRooms({ folder: config.rooms, variable: environmentVariable });
  return {
    files,
    problems,
    async templateFor(threadId) {
      if (files.every(({ workspace }) => workspace === undefined)) return undefined;
      const [row] = await query<{ kind: string | null }>(
        "select coalesce(r.kind, t.agent) as kind from threads t left join rooms r on r.thread_id = t.id where t.id = $1",
        [threadId],
      );
      return files.find(({ id }) => id === row?.kind)?.workspace;
    },
  };
}

/** The same models, and those that members of rooms bring along by their endpoints. */
export function withRoomModels(
  models: ModelRegistry,
  files: readonly RoomFile[],
  { isOwn, hide }: { readonly isOwn: (url: URL) => boolean; readonly hide: (key: string) => void },
): { readonly models: ModelRegistry; readonly close: () => Promise<void> } {
  const configs = files.flatMap((file) => file.members.flatMap((member) => endpointOf(file.id, member)));
  if (configs.length === 0) return { models, close: async () => {} };
  for (const config of configs) if ("apiKey" in config && config.apiKey !== undefined) hide(config.apiKey);
  const brought = createModels({ models: configs, isOwn });
  const isBrought = (name: string) => configs.some(({ id }) => id === name);
  return {
    models: {
      get: (name) => (isBrought(name) ? brought : models).get(name),
      has: (name) => isBrought(name) || models.has(name),
      list: () => models.list(),
    },
    close: brought.close,
  };
}

function endpointOf(roomId: string, member: RoomFile["members"][number]): ModelConfig[] {
  if (member.endpoint === undefined) return [];
  const id = modelIdOf(roomId, member.agent ?? member.id);
  const key = member.key === undefined ? {} : { apiKey: member.key };
  return [{ id, provider: "openai", baseUrl: member.endpoint, model: member.model ?? "default", ...key }];
}

/** What is wrong with a file, for people. */
export function problemText({ file, line, message }: RoomProblem): string {
  return `${file}${line === undefined ? "" : `:${line}`}: ${message}`;
}

/** What is wrong with rooms, a sentence each. */
export function roomProblems(
  { files, problems }: OpenedRooms,
  { agents, models }: { readonly agents: AgentRegistry; readonly models: ModelRegistry },
): string[] {
  return [
    ...problems.map(problemText),
    ...files.flatMap((file) => {
      if (agents.has(file.id) || models.has(file.id))
        return [`room ${file.id}: there is an agent or a model of this name, which comes first; rename the room.`];
      const unknown = unknownMembers(file, agents);
      return unknown.length > 0 ? [`room ${file.id}: agent ${unknown.join(", ")} not found.`] : [];
    }),
  ];
}

type ServeDeps = {
  readonly store: Pick<Store, "database">;
  readonly runs: Pick<RunsService, "runs" | "threads" | "approvals">;
  /** Agents, with the rooms among them. */
  readonly definitions: { readonly agents: AgentRegistry };
  readonly log: Log;
};

export type ServedRooms = { readonly services: Pick<Services, "rooms" | "presence">; readonly close: () => void };

/** How people use rooms, and who is in them. */
export function serveRooms({ files }: OpenedRooms, { store, runs, definitions, log }: ServeDeps): ServedRooms {
  const { query } = store.database;
  const presence = createPresence({ query, log });
  const rooms = createRooms({
    query,
    runs: runs.runs,
    threads: runs.threads,
    approvals: runs.approvals,
    agents: definitions.agents,
    files,
  });
  return { services: { rooms, presence }, close: () => presence.close() };
}
