import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import type { RunEvent } from "../src/protocol/threads/events.ts";
import { checkInvariants } from "../src/store/schema/invariants.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { eachDatabase } from "./databases.ts";
import { type RoomPoint, startRoomRuns } from "./room-until-killed.ts";
import { saidIn } from "./rooms.ts";

const program = join(import.meta.dirname, "room-until-killed.ts");
/** A new PGlite takes long to make. */
const points: Readonly<Record<"pglite" | "postgres", readonly RoomPoint[]>> = {
  pglite: ["in an answer"],
  postgres: ["in an answer", "between turns"],
};

eachDatabase((databases) => {
  const undo: (() => unknown)[] = [];

  // At the same time: on PostgreSQL each waits for the dead process's heartbeat to be missed.
  describe("a room after kill -9", { concurrency: true, timeout: 600_000 }, () => {
    after(async () => {
      for (const one of undo.reverse()) await one();
    });

    for (const point of points[databases.kind])
      test(`${point}: nobody speaks twice, nothing that was said is lost`, async () => {
        const place = await databases.place();
        const child = spawn(process.execPath, [program, JSON.stringify({ place, point })], { stdio: "inherit" });
        undo.push(() => child.kill("SIGKILL"));
        const [, signal] = await once(child, "exit");
        assert.equal(signal, "SIGKILL");

        const database = await openDatabase(place);
        undo.push(database.close);
        await migrate(database);
        // Read before anybody works on it: it may be over at once.
        const [root] = await database.query<{ id: string; thread: string }>(
          "select id, thread_id as thread from runs where id = root_run",
        );
        const { service } = await startRoomRuns(database, "nowhere");
        undo.push(() => service.stop(0));
        const seen: RunEvent[] = [];
        await new Promise<void>((resolve, reject) => {
          const follower = service.runs.follow(
            { threadId: root!.thread },
            { seq: 0, live: [] },
            {
              events(batch) {
                seen.push(...batch);
                if (!seen.some((event) => event.type === "run-end" && event.run === root!.id)) return;
                queueMicrotask(() => follower.close());
                resolve();
              },
              error: reject,
            },
          );
        });
        const lines = saidIn(seen);
        assert.deepEqual(lines.slice().sort(), [
          "@one: @two what do you say?",
          "@one: So it is.",
          "@three: Me too.",
          "@two: It is so.",
          "@user: @one what is it?",
          "@user: @three and you?",
        ]);
        const turns = seen.flatMap((event) => (event.type === "turn-start" ? [`${event.agent} ${event.answers}`] : []));
        assert.equal(new Set(turns).size, turns.length);
        assert.deepEqual(
          (await checkInvariants(database.query)).filter(({ broken }) => broken > 0),
          [],
        );
      });
  });
});
