import type { Config } from "../config/schema.ts";
import { environmentVariable } from "../config/load.ts";
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
import type { Runs } from "../run/runs.ts";
import type { Opened } from "./store.ts";

export type OpenedRooms = {
  readonly files: readonly RoomFile[];
  readonly problems: readonly RoomProblem[];
  /** The folder that the workspace of a thread begins with, if it is that of a room which says so. */
  readonly templateFor: (threadId: string) => Promise<string | undefined>;
};

/** The rooms of the configuration, before anything that works in them. */
export async function openRooms(config: Config, { query }: { readonly query: Query }): Promise<OpenedRooms> {
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
  {
    isOwn,
    hide,
    opened,
  }: { readonly isOwn: (url: URL) => boolean; readonly hide: (key: string) => void; readonly opened: Opened },
): ModelRegistry {
  const configs = files.flatMap((file) => file.members.flatMap((member) => endpointOf(file.id, member)));
  if (configs.length === 0) return models;
  for (const config of configs) if ("apiKey" in config && config.apiKey !== undefined) hide(config.apiKey);
  const brought = createModels({ models: configs, isOwn });
  opened.push(brought.close);
  const isBrought = (name: string) => configs.some(({ id }) => id === name);
  return {
    get: (name) => (isBrought(name) ? brought : models).get(name),
    has: (name) => isBrought(name) || models.has(name),
    list: () => models.list(),
  };
}

function endpointOf(roomId: string, member: RoomFile["members"][number]): ModelConfig[] {
  if (member.endpoint === undefined) return [];
  const id = modelIdOf(roomId, member.agent ?? member.id);
  const key = member.key === undefined ? {} : { apiKey: member.key };
  return [{ id, provider: "openai", baseUrl: member.endpoint, model: member.model ?? "default", ...key }];
}

/** What is wrong with rooms, a sentence each. */
export function roomProblems(
  { files, problems }: OpenedRooms,
  { agents, models }: { readonly agents: AgentRegistry; readonly models: ModelRegistry },
): string[] {
  return [
    ...problems.map(({ file, line, message }) => `${file}${line === undefined ? "" : `:${line}`}: ${message}`),
    ...files.flatMap((file) => {
      if (agents.has(file.id) || models.has(file.id))
        return [`room ${file.id}: there is an agent or a model of this name, which comes first; rename the room.`];
      const unknown = unknownMembers(file, agents);
      return unknown.length > 0 ? [`room ${file.id}: there is no agent ${unknown.join(", ")}.`] : [];
    }),
  ];
}

export type RoomsParts = {
  readonly query: Query;
  readonly runs: Runs;
  /** Those with the rooms among them. */
  readonly agents: AgentRegistry;
  readonly log: Log;
  readonly opened: Opened;
};

/** How people use rooms, and who is in them. */
export function serveRooms({ files }: OpenedRooms, { query, runs, agents, log, opened }: RoomsParts) {
  const presence = createPresence({ query, log });
  opened.push(async () => presence.close());
  return { rooms: createRooms({ query, runs, agents, files }), presence };
}
