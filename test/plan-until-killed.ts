import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import type { Place } from "./databases.ts";
import { type PlanPoint, startPlanRuns } from "./plan-run.ts";

// Works on one plan and kills itself at the given point of it.
const { place, letters, point } = JSON.parse(process.argv[2]!) as { place: Place; letters: string; point: PlanPoint };
const database = await openDatabase(place);
await migrate(database);
const { runs, caller } = await startPlanRuns(database, {
  letters,
  reach(reached) {
    if (reached === point) process.kill(process.pid, "SIGKILL");
  },
});
await runs.start(caller, { agent: "assistant", message: { content: "Write to Ann and Bob" } });
setInterval(() => {}, 1000);
