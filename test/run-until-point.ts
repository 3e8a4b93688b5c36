import { migrate } from "../src/store/schema/migrate.ts";
import type { Database } from "../src/store/driver/database.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import type { Place } from "./databases.ts";
import { finishFixedRun, type Finished } from "./finish-fixed-run.ts";
import { startFixedRuns, stories, type Story } from "./fixed-run.ts";
import { removeRows } from "./remove-rows.ts";
import { withWritePoints } from "./write-points.ts";

/** A story, the database in which it is told, and where its requests go. */
export type Told = { readonly story: Story; readonly place: Place; readonly outside: string };
/** `left`: a run over which a process was killed, to be finished. `next`: one to be done until the point, or to its end. */
export type Input = { readonly left?: Told; readonly next?: Told & { readonly point?: string } };
/** Each is told by a line of its own; of a process that was killed at its point there are no points. */
export type Output = { readonly finished: Finished } | { readonly points: readonly string[] };

const { left, next } = JSON.parse(process.argv[2]!) as Input;
if (left) {
  const database = await openDatabase(left.place);
  tell({ finished: await finishFixedRun(database, left.story, left.outside) });
  if (next?.place.dataDirectory === left.place.dataDirectory) await removeRows(database);
  await database.close();
}
if (next) tell({ points: await pointsOf(next) });

/** Does the fixed run and kills this process at the given point; without one, or if it never comes there, it returns all points. */
async function pointsOf({ place, outside, story, point }: NonNullable<Input["next"]>): Promise<readonly string[]> {
  const points: string[] = [];
  const firstLook = Promise.withResolvers<void>();
  let begun = false;
  const opened = await openDatabase(place);
  await migrate(opened);
  const watched: Database = {
    ...opened,
    async query(text, values) {
      const rows = await opened.query<never>(text, values);
      if (text.includes("claim_runs")) setImmediate(firstLook.resolve);
      return rows;
    },
  };
  const database = withWritePoints(watched, async (reached) => {
    if (!begun) return;
    points.push(reached);
    if (reached !== point) return;
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => {});
  });
  const service = await startFixedRuns(database, outside);
  // While the node looks for runs that were left, one that is accepted is queued: whether that is so is up to the clock.
  await firstLook.promise;
  begun = true;
  await stories[story](service);
  await service.stop(0);
  await opened.close();
  return points;
}

function tell(output: Output): void {
  console.log(JSON.stringify(output));
}
