import { after, afterEach, before } from "node:test";
import type { RunEvent } from "../src/protocol/threads/events.ts";
import type { RunStart } from "../src/run/runs.ts";
import type { Database } from "../src/store/driver/database.ts";
import { anyDatabase, eachDatabase, type TestDatabases } from "./databases.ts";
import { startTestRuns, type TestRuns, type TestRunsOptions } from "./runs.ts";

export type RunSuite = {
  readonly kind: Database["kind"];
  /** One for the whole suite, since making one takes seconds; emptied of threads and jobs after each test. */
  readonly database: () => Database;
  /** A node; stopped after the test. */
  readonly start: (options: Omit<TestRunsOptions, "database">) => Promise<TestRuns>;
};

/** The same tests of runs on each database, or on `only` one. */
export function eachRunDatabase(suite: (runs: RunSuite) => void, only?: Database["kind"]): void {
  eachDatabase((databases) => {
    if (only === undefined || databases.kind === only) runSuite(databases, suite);
  });
}

/** Tests of runs for which one database is as good as the other. */
export function anyRunDatabase(suite: (runs: RunSuite) => void): void {
  anyDatabase((databases) => runSuite(databases, suite));
}

function runSuite(databases: TestDatabases, suite: (runs: RunSuite) => void): void {
  let database: Database;
  let services: TestRuns[] = [];
  before(async () => {
    database = await databases.open();
  });
  const stop = async () => {
    await Promise.all(services.map((service) => service.stop(0)));
    services = [];
  };
  afterEach(async () => {
    await stop();
    await database.query("delete from threads");
    await database.query("delete from idempotency_keys");
  });
  after(stop);
  suite({
    kind: databases.kind,
    database: () => database,
    async start(options) {
      const service = await startTestRuns({ ...options, database });
      services.push(service);
      return service;
    },
  });
}

/** Waits for a condition, at most ten seconds. */
export async function until(condition: () => boolean | Promise<boolean>, what = "the condition"): Promise<void> {
  const end = performance.now() + 10_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Waited in vain for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Follows a run from its start; `seen` grows. */
export function watch(
  service: TestRuns,
  started: Pick<RunStart, "threadId" | "cursor"> & { runId?: string },
): { readonly seen: RunEvent[]; close(): void } {
  const seen: RunEvent[] = [];
  const follower = service.runs.follow(started, started.cursor, {
    events: (batch) => seen.push(...batch),
    error(error) {
      throw error;
    },
  });
  return { seen, close: follower.close };
}

/** Lets anybody claim a run that is at work, as a node does when the one that has it looks dead. */
export async function passOn(database: Database, runId: string): Promise<void> {
  await database.query("update runs set status = 'queued' where id = $1 and status = 'running'", [runId]);
}

/** A run as it stands in the table. */
export async function rowOf(database: Database, runId: string): Promise<RunFacts> {
  const [row] = await database.query<RunFacts>(
    "select status, wait_reason, epoch, takeovers, node, handed_over, error from runs where id = $1",
    [runId],
  );
  if (!row) throw new Error(`There is no run ${runId}.`);
  return row;
}
export type RunFacts = {
  status: string;
  wait_reason: string | null;
  epoch: number;
  takeovers: number;
  node: string | null;
  handed_over: boolean;
  error: { code: string; message: string } | null;
};
