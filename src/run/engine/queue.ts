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

/** Somebody else was just asking about the same person's runs, which takes a statement. */
const againMs = 10;

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
  let mayNotTake = () => false;
  const timers = new Set<NodeJS.Timeout>();

  const isTaking = () => work !== undefined && !paused && !mayNotTake();

  type ClaimRow = {
    run_id: string | null;
    run_epoch: number;
    crashed: boolean | null;
    retried: boolean | null;
    last_node: string | null;
  };
  const claim = (most: number) =>
    database.query<ClaimRow>("select run_id, run_epoch, crashed, retried, last_node from claim_runs($1, $2, $3)", [
      node,
      most,
      perUser,
    ]);

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
    while (isTaking() && active < perNode) {
      hasLooked = true;
      // Half of the free places, so that runs may begin here meanwhile.
      asked = Math.ceil((perNode - active) / 2);
      const rows = await claim(asked);
      asked = 0;
      isMoreQueued = rows.at(-1)?.run_id === null;
      let claimed = 0;
      for (const { run_id: runId, run_epoch: epoch, crashed, retried, last_node: lastNode } of rows) {
        if (runId === null) continue;
        claimed++;
        run(() => work!({ runId, epoch, crashed: crashed!, retried: retried!, lastNode }));
      }
      const isContended = isMoreQueued && rows.at(-1)!.run_epoch === 1;
      if (claimed === 0 && !isContended) return;
      if (!isMoreQueued) return;
      if (isContended) await sleep(againMs * (0.5 + Math.random()));
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
        free: () => void active--,
      };
    },
    wake() {
      isMoreQueued = true;
      if (isTaking() && active < perNode) pull();
      else announce();
    },
    look: pull,
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
