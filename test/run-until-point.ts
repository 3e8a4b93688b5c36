import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import type { Place } from "./databases.ts";
import { startFixedRuns, stories, type Story } from "./fixed-run.ts";
import { withWritePoints } from "./write-points.ts";

// Does the fixed run and kills itself at the given point; without one, or if it never comes there, it tells all points.
type Input = { place: Place; outside: string; story: Story; point?: string };
const { place, outside, story, point } = JSON.parse(process.argv[2]!) as Input;
const points: string[] = [];
let begun = false;
const opened = await openDatabase(place);
await migrate(opened);
const database = withWritePoints(opened, async (reached) => {
  if (!begun) return;
  points.push(reached);
  if (reached !== point) return;
  process.kill(process.pid, "SIGKILL");
  await new Promise(() => {});
});
const service = await startFixedRuns(database, outside);
begun = true;
await stories[story](service);
await service.stop(0);
await opened.close();
console.log(JSON.stringify(points));
