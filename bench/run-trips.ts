import type { Database } from "../src/store/driver/database.ts";
import type { TestRuns } from "../test/runs.ts";

/** What a node sends by the clock, whether or not there is a run. */
const byTheClock = /into nodes|with held as|pg_notify|into deltas|pgboss\.(queue|version|warning|schedule|bam)/i;

/** Round trips of one run that answers this message, from its start until nobody works on it. */
export async function tripsOf(service: TestRuns, database: Database, message: string): Promise<number> {
  let trips = 0;
  database.onTrip = (text) => {
    if (!byTheClock.test(text)) trips++;
  };
  const { events } = await service.ask(message);
  while (service.active() > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  delete database.onTrip;
  const last = events.at(-1);
  if (last?.type !== "run-end" || last.status !== "done")
    throw new Error(`The run with ${message} did not come to its end.`);
  return trips;
}
