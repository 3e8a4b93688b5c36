import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createAgentRegistry } from "../src/agents/registry.ts";
import { type Caller, callerOf } from "../src/protocol/base/callers.ts";
import type { RunEvent } from "../src/protocol/threads/events.ts";
import { newId } from "../src/protocol/base/ids.ts";
import { textOf } from "../src/protocol/threads/items.ts";
import { withRoomAgents } from "../src/rooms/room-agents.ts";
import { roomFileSchema } from "../src/rooms/room-file.ts";
import { createRooms, type Rooms } from "../src/rooms/rooms.ts";
import { roomStrategies } from "../src/rooms/strategies.ts";
import { checkInvariants } from "../src/store/schema/invariants.ts";
import { createUser } from "../src/store/people/users.ts";
import { memberOf, speakerOf } from "./rooms.ts";
import { isWhole } from "./sampled.ts";
import { anyRunDatabase, type RunSuite, until, watch } from "./run-suite.ts";

const names = ["ada", "ben", "cleo", "dan", "eva", "fay", "gus", "hal", "ida", "jon"];
const agents = ["one", "two", "three", "four", "five"];
const busyMs = isWhole ? 60_000 : 15_000;

/** At once on both databases: most of it is waiting. */
describe("a crowd", { concurrency: true }, () => anyRunDatabase(crowdOf));

function crowdOf(suite: RunSuite): void {
  for (const turns of ["sequential", "parallel"] as const)
    test(
      `ten people and five agents at once, ${turns}: order the same for all, nothing lost`,
      { timeout: 300_000 },
      async () => {
        let answers = 0;
        const service = await suite.start({
          strategies: roomStrategies,
          // Now and then one asks another one, so that chains grow, and end.
          script(request) {
            const name = speakerOf(request);
            const next = agents[(agents.indexOf(name) + 1) % agents.length]!;
            const number = ++answers;
            const text = number % 3 === 0 ? `@${next} ${number}` : number % 7 === 0 ? "[pass]" : `${name} ${number}`;
            return [{ waitMs: number % 20 }, { text }];
          },
        });
        const { database } = service;
        const members = agents.map((name, at) =>
          memberOf(name, { model: "script", activation: at === 0 ? "always" : "mention" }),
        );
        const file = roomFileSchema.parse({
          id: "desk",
          members,
          turns,
          limits: { steps: 100_000, deadlineSeconds: 600 },
        });
        const registry = withRoomAgents(createAgentRegistry([]), [file]);
        const rooms: Rooms = createRooms({
          query: database.query,
          ...service,
          agents: registry,
          files: [file],
        });
        const people: Caller[] = [];
        for (const name of names)
          people.push(
            callerOf(await createUser(database.query, { name: `${name}-${newId()}`, role: "user" }), "session"),
          );
        const { id } = await rooms.create(people[0]!, { kind: "desk" });
        for (const person of people.slice(1)) await rooms.addPerson(people[0]!, id, person.name);

        const streams = people.map(() => watch(service, { threadId: id, cursor: { seq: 0, live: [] } }));
        const said = new Map<string, string>();
        const end = performance.now() + busyMs;
        await Promise.all(
          people.map(async (person, at) => {
            for (let count = 0; performance.now() < end; count++) {
              const content = `${names[at]} ${count} @${agents[(at + count) % agents.length]}`;
              const messageId = newId();
              await rooms.say(person, id, { message: { id: messageId, content } });
              said.set(messageId, content);
              await new Promise((resolve) => setTimeout(resolve, 200 + 37 * at));
            }
          }),
        );
        // Whatever is left to say is said.
        const isOver = async () => (await rooms.get(people[0]!, id)).run === null;
        for (let looks = 0; looks < 2000 && !(await isOver()); looks++)
          await new Promise((resolve) => setTimeout(resolve, 100));
        assert.ok(await isOver());
        const { lastSeq } = await rooms.get(people[0]!, id);
        await until(() => streams.every(({ seen }) => seqsOf(seen).at(-1) === lastSeq), "all streams");

        const orders = streams.map(({ seen }) => seqsOf(seen));
        assert.deepEqual(
          orders[0],
          Array.from({ length: lastSeq }, (_, index) => index + 1),
        );
        for (const order of orders) assert.deepEqual(order, orders[0]);
        const log = streams[0]!.seen.flatMap((event) => (event.type === "message" ? [event.item] : []));
        const heard = new Map(log.map((item) => [item.id, textOf(item.body.content)]));
        for (const [messageId, content] of said) assert.equal(heard.get(messageId), content);
        // Whom a person named has had a turn that began after it.
        const begun = streams[0]!.seen.flatMap((event) => (event.type === "turn-start" ? [event] : []));
        for (const item of log.filter(({ step }) => step === null)) {
          const name = /@(\w+)/.exec(textOf(item.body.content))![1]!;
          assert.ok(
            begun.some(({ agent, seq }) => agent === name && seq > item.seq),
            textOf(item.body.content),
          );
        }
        const twice = begun.map(({ agent, answers: message }) => `${agent} ${message}`);
        assert.equal(new Set(twice).size, twice.length);
        const ends = streams[0]!.seen.filter((event) => event.type === "run-end" && event.status !== "done");
        assert.deepEqual(ends, []);
        assert.deepEqual(
          (await checkInvariants(database.query)).filter(({ broken }) => broken > 0),
          [],
        );
        console.log(`${turns}: ${said.size} messages of people, ${begun.length} turns, ${lastSeq} items`);
        for (const stream of streams) stream.close();
      },
    );
}

function seqsOf(events: readonly RunEvent[]): number[] {
  return events.flatMap((event) => ("seq" in event ? [event.seq] : []));
}
