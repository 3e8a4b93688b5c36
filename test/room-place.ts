import { createAgentRegistry } from "../src/agents/registry.ts";
import type { Script } from "../src/models/demo/scripted.ts";
import { type Caller, callerOf } from "../src/protocol/base/callers.ts";
import type { RunEvent } from "../src/protocol/threads/events.ts";
import { newId } from "../src/protocol/base/ids.ts";
import { withRoomAgents } from "../src/rooms/room-agents.ts";
import { roomFileSchema } from "../src/rooms/room-file.ts";
import { createRooms, type Rooms } from "../src/rooms/rooms.ts";
import { roomStrategies } from "../src/rooms/strategies.ts";
import { createUser } from "../src/store/people/users.ts";
import { saidIn } from "./rooms.ts";
import { type RunSuite, until, watch } from "./run-suite.ts";
import type { TestRuns, TestRunsOptions } from "./runs.ts";

export type RoomPlace = {
  readonly service: TestRuns;
  readonly rooms: Rooms;
  readonly id: string;
  /** The owner of the room, and somebody who was let in. */
  readonly ada: Caller;
  readonly bob: Caller;
  readonly seen: readonly RunEvent[];
  readonly say: (who: Caller, content: string) => Promise<string>;
  /** Until the run has ended. */
  readonly over: (run: string) => Promise<void>;
  readonly lines: () => string[];
};

/** A room of the kind `desk`, with its owner and somebody who was let in. */
export async function openRoom(
  suite: RunSuite,
  options: { readonly room: object; readonly script: Script } & Pick<TestRunsOptions, "tools" | "models" | "outages">,
): Promise<RoomPlace> {
  const service = await suite.start({ ...options, strategies: roomStrategies });
  const { database } = service;
  const file = roomFileSchema.parse({ id: "desk", ...withModel(options.room) });
  const agents = withRoomAgents(createAgentRegistry([]), [file]);
  const rooms = createRooms({ query: database.query, ...service, agents, files: [file] });
  const [ada, bob] = await Promise.all(
    ["ada", "bob"].map(async (name) =>
      callerOf(await createUser(database.query, { name: `${name} ${newId()}`, role: "user" }), "session"),
    ),
  );
  const { id } = await rooms.create(ada!, { kind: "desk" });
  await rooms.addPerson(ada!, id, bob!.name);
  const { seen } = watch(service, { threadId: id, cursor: { seq: 0, live: [] } });
  return {
    ...{ service, rooms, id, ada: ada!, bob: bob!, seen },
    say: async (who, content) => (await rooms.say(who, id, { message: { content } })).runId,
    over: (run) =>
      until(() => seen.some((event) => event.type === "run-end" && event.run === run), "the people's turn"),
    lines: () => saidIn(seen).map((line) => line.replace(/bob_[\w-]+/, "bob")),
  };
}

function withModel(room: object): object {
  const { members } = room as { readonly members: readonly object[] };
  return { ...room, members: members.map((member) => ({ model: "script", ...member })) };
}
