import { createAgentRegistry } from "../src/agents/registry.ts";
import type { Script } from "../src/models/demo/scripted.ts";
import { withRoomAgents } from "../src/rooms/room-agents.ts";
import { roomFileSchema } from "../src/rooms/room-file.ts";
import { createRooms, type Rooms } from "../src/rooms/rooms.ts";
import { roomStrategies } from "../src/rooms/strategies.ts";
import type { Database } from "../src/store/driver/database.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import type { Place } from "./databases.ts";
import { memberOf, speakerOf } from "./rooms.ts";
import { startTestRuns, type TestRuns } from "./runs.ts";

/** Where a process dies: in the middle of an answer, or when the one after is asked. */
export type RoomPoint = "in an answer" | "between turns" | "nowhere";

const lines = { one: ["@two what do you say?", "So it is."], two: ["It is so."], three: ["Me too."] };

/** A node with a room of three; each process tells what its agents have said so far by the prompts that they get. */
export async function startRoomRuns(
  database: Database,
  die: RoomPoint,
  /** It dies only then. */
  allSaid: Promise<void> = Promise.resolve(),
): Promise<{ readonly service: TestRuns; readonly rooms: Rooms }> {
  const script: Script = ({ messages, ...request }) => {
    const name = speakerOf({ messages, ...request }) as keyof typeof lines;
    const spoken = messages.filter(({ role }) => role === "assistant").length;
    const text = lines[name][spoken]!;
    const kill = () => allSaid.then(() => process.kill(process.pid, "SIGKILL"));
    if (die === "in an answer" && name === "two") return [{ text: "It is" }, { gate: kill }, { hang: true }];
    if (die === "between turns" && name === "one" && spoken === 1) return [{ gate: kill }, { hang: true }];
    return text;
  };
  const service = await startTestRuns({ database, strategies: roomStrategies, script });
  const members = ["one", "two", "three"].map((name) => memberOf(name, { model: "script" }));
  const file = roomFileSchema.parse({ id: "desk", members });
  const agents = withRoomAgents(createAgentRegistry([]), [file]);
  const rooms = createRooms({ query: database.query, ...service, agents, files: [file] });
  return { service, rooms };
}

if (import.meta.main) {
  const { place, point } = JSON.parse(process.argv[2]!) as { place: Place; point: RoomPoint };
  const database = await openDatabase(place);
  await migrate(database);
  const allSaid = Promise.withResolvers<void>();
  const { service, rooms } = await startRoomRuns(database, point, allSaid.promise);
  const { id } = await rooms.create(service.caller, { kind: "desk" });
  await rooms.say(service.caller, id, { message: { content: "@one what is it?" } });
  await rooms.say(service.caller, id, { message: { content: "@three and you?" } });
  allSaid.resolve();
  setInterval(() => {}, 1000);
}
