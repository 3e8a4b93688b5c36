import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../protocol/base/log.ts";
import type { Database } from "../../store/driver/database.ts";

/** A root run that was given to this node: it writes at this epoch, or not at all. */
export type ClaimedRun = {
  readonly runId: string;
  readonly epoch: number;
  /** Whoever had it before died over it. */
  readonly crashed: boolean;
  /** It waited, and was to go on by itself about now. */
  readonly retried: boolean;
  /** The node that had it before. */
  readonly lastNode: string | null;
};

/** A place on this node that is kept for a run which is being accepted here. */
export type RunPlace = {
  /** Works on the run that got the place; the work must not throw. */
  use(work: () => Promise<void>): void;
  /** The run did not come, or is queued. */
  free(): void;
};

/** Who works on which root run, and when: the rows of `runs` say it, and the function `claim_runs` gives them out. */
export type RunQueue = {
  /** How many runs of one person are worked on at once, on all nodes together. */
  readonly perUser: number;
  /** Begins to claim runs, except while `mayNotTake`; `work` must not throw. */
  begin(work: (run: ClaimedRun) => Promise<void>, mayNotTake?: () => boolean): void;
  /** Undefined: there is none now, so the run is to be queued. */
  takePlace(): RunPlace | undefined;
  /** A run was queued here, for anybody: claims it, or lets the other nodes know. */
  wake(): void;
  /** A run may have been queued, here or elsewhere. */
  look(): void;
  /** A run goes on by itself after this long. */
  lookAfter(ms: number): void;
  /** No more claims; what runs goes on. */
  pause(): void;
  /** Whether a run is at work here, or may just have been claimed. */
  busy(): boolean;
};

export type QueueOptions = {
  readonly database: Database;
  readonly node: string;
  readonly perUser: number;
  readonly perNode: number;
  readonly log: Log;
  /** Lets the other nodes know that a run is queued. */
  readonly announce: () => void;
};

/** Somebody else was just giving out the same person's places, which takes a statement, or longer where the database is slow. */
const [againMs, longestAgainMs] = [10, 1000];

type Claim = {
  readonly runs: readonly ClaimedRun[];
  /** What stays queued: nothing; what its person's limit holds up, or other nodes are to take; what is to be asked for again. */
  readonly left: "nothing" | "queued" | "contended";
};

async function claimRuns(
  database: Database,
  { node, most, perUser }: { readonly node: string; readonly most: number; readonly perUser: number },
): Promise<Claim> {
  type Row = {
    run_id: string | null;
    run_epoch: number;
    crashed: boolean | null;
    retried: boolean | null;
    last_node: string | null;
  };
  const rows = await database.query<Row>(
    "select run_id, run_epoch, crashed, retried, last_node from claim_runs($1, $2, $3)",
    [node, most, perUser],
  );
  const last = rows.at(-1);
  return {
    runs: rows.flatMap(({ run_id: runId, run_epoch: epoch, crashed, retried, last_node: lastNode }) =>
      runId === null ? [] : { runId, epoch, crashed: crashed!, retried: retried!, lastNode },
    ),
    left: last?.run_id !== null ? "nothing" : last.run_epoch === 1 ? "contended" : "queued",
  };
}

export function createQueue({ database, node, perUser, perNode, log, announce }: QueueOptions): RunQueue {
  let work: ((run: ClaimedRun) => Promise<void>) | undefined;
  let active = 0;
  /** Places that a claim under way may fill. */
  let asked = 0;
  let claiming = false;
  let again = false;
  let paused = false;
  /** Something was queued when this node last looked: the end of a run may be what it waits for. */
  let isMoreQueued = false;
  /** It was queued here, and no other node knows. */
  let isUntold = false;
  let mayNotTake = () => false;
  const timers = new Set<NodeJS.Timeout>();

  const isTaking = () => work !== undefined && !paused && !mayNotTake();

  function pull(): void {
    if (!isTaking()) return;
    if (claiming) {
      again = true;
      return;
    }
    claiming = true;
    void drain()
      .catch((error: unknown) => log.warn({ error: String(error) }, "could not claim runs"))
      .finally(() => {
        claiming = false;
        asked = 0;
        if (!again) return;
        again = false;
        pull();
      });
  }

  async function drain(): Promise<void> {
    let hasLooked = false;
    let pauseMs = againMs;
    while (isTaking() && active < perNode) {
      hasLooked = true;
      // Half of the free places, so that runs may begin here meanwhile.
      asked = Math.ceil((perNode - active) / 2);
      const { runs, left } = await claimRuns(database, { node, most: asked, perUser });
      asked = 0;
      isMoreQueued = left !== "nothing";
      for (const claimed of runs) run(() => work!(claimed));
      if (left === "contended") {
        await sleep(pauseMs * (0.5 + Math.random()));
        pauseMs = Math.min(longestAgainMs, 2 * pauseMs);
      } else if (runs.length === 0 || !isMoreQueued) {
        // Its person's runs may be at work elsewhere, where the end of one is the moment to look.
        if (isMoreQueued && isUntold) announce();
        isUntold = false;
        return;
      }
    }
    // Others may have places. A full node that only hears of it says nothing, or two would tell each other for ever.
    if (isMoreQueued && hasLooked) announce();
  }

  function run(working: () => Promise<void>): void {
    active++;
    void working().finally(() => {
      active--;
      if (isMoreQueued) pull();
    });
  }

  return {
    perUser,
    begin(handler, refuses = mayNotTake) {
      mayNotTake = refuses;
      work = handler;
      pull();
    },
    takePlace() {
      if (!isTaking() || active + asked >= perNode) return undefined;
      active++;
      return {
        use(working) {
          active--;
          run(working);
        },
        free() {
          active--;
          if (isMoreQueued) pull();
        },
      };
    },
    wake() {
      isMoreQueued = true;
      isUntold = true;
      if (isTaking() && active < perNode) pull();
      else announce();
    },
    look() {
      // Where this node is full, the end of a run is the moment to look.
      isMoreQueued = true;
      pull();
    },
    lookAfter(ms) {
      if (paused) return;
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          pull();
        },
        Math.min(ms, 2 ** 31 - 1),
      ).unref();
      timers.add(timer);
    },
    pause() {
      paused = true;
      for (const timer of timers) clearTimeout(timer);
    },
    busy: () => active > 0 || claiming,
  };
}
