import { openDatabase } from "../src/store/driver/open.ts";
import type { Place } from "./databases.ts";
import { startErasing } from "./erasure-parts.ts";
import { withWritePoints } from "./write-points.ts";

// Goes on with an erasure and kills itself at a moment right before or after a write, counted from 1; without one it comes to its end.
const { place, folder, killAt } = JSON.parse(process.argv[2]!) as { place: Place; folder: string; killAt?: number };
const database = await openDatabase(place);
let reached = 0;
let counts = false;
const watched = withWritePoints(database, async () => {
  if (counts && ++reached === killAt) process.kill(process.pid, "SIGKILL");
});
const { service, erasures } = await startErasing(watched, { folder, script: [] });
// The one before was killed, and its time is over.
await database.query("update erasures set leased_until = null");
counts = true;
const stop = erasures().begin();
for (;;) {
  const [row] = await database.query<{ done: boolean; problem: string | null }>(
    "select done_at is not null as done, problem from erasures",
  );
  if (row!.problem !== null) throw new Error(row!.problem);
  if (row!.done) break;
  await new Promise((resolve) => setTimeout(resolve, 20));
}
await stop();
await service.stop(0);
await database.close();
console.log("done");
