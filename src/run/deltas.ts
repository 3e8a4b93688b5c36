import type { Log } from "../protocol/log.ts";
import { plainText } from "../protocol/json-text.ts";
import type { Database } from "../store/database.ts";

export type DeltaKind = "text" | "reasoning";

/** A piece of a message that is being written; `attempt` is the epoch of the run, which fences it. */
export type Delta = {
  readonly runId: string;
  readonly threadId: string;
  readonly step: string;
  readonly attempt: number;
  readonly kind: DeltaKind;
  readonly offset: number;
  readonly text: string;
};

/** Collects the live text of all runs of this node and writes it in one statement per interval. */
export type DeltaWriter = {
  add(delta: Delta): void;
  /** The step is an item now (or withdrawn): drops what was not written; true if some was, so that it must be deleted. */
  settle(runId: string, step: string): boolean;
  /** Something in this thread changed that followers on other nodes want to see. */
  touch(threadId: string): void;
  /** A run elsewhere is to be stopped. */
  tellStop(runId: string): void;
  close(): Promise<void>;
};

export const channel = "colloquy";
/** What nodes tell one another; at most 8000 bytes a NOTIFY, so a long list becomes "look at everything". */
export type Notice = {
  readonly node: string;
  readonly threads: readonly string[] | "all";
  readonly stop?: readonly string[];
};

type Piece = { delta: Delta; text: string };

export function createDeltaWriter(options: {
  database: Database;
  node: string;
  intervalMs: number;
  log: Log;
}): DeltaWriter {
  const { database, node, log } = options;
  const remote = database.kind === "postgres";
  const unwritten = new Map<string, Piece>();
  const written = new Map<string, Set<string>>();
  const threads = new Set<string>();
  const stops = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> = Promise.resolve();

  const schedule = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      flushing = flushing
        .then(flush)
        .catch((error: unknown) => log.warn({ error: String(error) }, "live text was not stored"));
    }, options.intervalMs);
  };

  async function flush(): Promise<void> {
    const pieces = [...unwritten.values()];
    unwritten.clear();
    const notice = remote ? noticeText(node, threads, stops) : undefined;
    threads.clear();
    stops.clear();
    for (const { delta } of pieces) {
      const steps = written.get(delta.runId) ?? new Set();
      written.set(delta.runId, steps.add(delta.step));
    }
    if (pieces.length === 0) {
      if (notice) await database.query("select pg_notify($1, $2)", [channel, notice]);
      return;
    }
    const column = (pick: (piece: Piece) => unknown) => pieces.map(pick);
    await database.query(
      `with x as (select * from unnest($1::uuid[], $2::text[], $3::integer[], $4::text[], $5::integer[], $6::text[], $7::uuid[])
                  as x (run_id, step, attempt, kind, off, body, thread_id)),
            w as (insert into deltas (run_id, step, attempt, kind, off, body, thread_id)
                  select x.* from x join runs r on r.id = x.run_id and r.epoch = x.attempt and r.status = 'running' on conflict do nothing)
       select ${notice ? "pg_notify($8, $9)" : "1"}`,
      [
        column((piece) => piece.delta.runId),
        column((piece) => piece.delta.step),
        column((piece) => piece.delta.attempt),
        column((piece) => piece.delta.kind),
        column((piece) => piece.delta.offset),
        column((piece) => plainText(piece.text)),
        column((piece) => piece.delta.threadId),
        ...(notice ? [channel, notice] : []),
      ],
    );
  }

  return {
    add(delta) {
      const key = `${delta.runId}/${delta.step}/${delta.kind}`;
      const piece = unwritten.get(key);
      if (piece && piece.delta.attempt === delta.attempt) piece.text += delta.text;
      else unwritten.set(key, { delta, text: delta.text });
      threads.add(delta.threadId);
      schedule();
    },
    settle(runId, step) {
      unwritten.delete(`${runId}/${step}/text`);
      unwritten.delete(`${runId}/${step}/reasoning`);
      const steps = written.get(runId);
      const any = steps?.delete(step) ?? false;
      if (steps?.size === 0) written.delete(runId);
      return any;
    },
    touch(threadId) {
      if (!remote) return;
      threads.add(threadId);
      schedule();
    },
    tellStop(runId) {
      if (!remote) return;
      stops.add(runId);
      schedule();
    },
    async close() {
      clearTimeout(timer);
      await flushing;
      if (unwritten.size + threads.size + stops.size > 0) await flush();
    },
  };
}

function noticeText(node: string, threads: ReadonlySet<string>, stops: ReadonlySet<string>): string {
  const stop = stops.size > 0 ? [...stops].slice(0, 80) : undefined;
  return JSON.stringify({ node, threads: threads.size > 100 ? "all" : [...threads], stop } satisfies Notice);
}
