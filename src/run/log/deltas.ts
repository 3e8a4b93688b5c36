import { z } from "zod";
import type { Log } from "../../protocol/base/log.ts";
import type { Retry } from "../../protocol/threads/events.ts";
import { epochSql } from "./standing.ts";
import { jsonText } from "../../protocol/base/json-text.ts";
import type { Database } from "../../store/driver/database.ts";

export type DeltaKind = "text" | "reasoning";
/** What is written of a step besides its text: why the attempt before failed, as JSON. */
type WrittenKind = DeltaKind | "retry";

/** A step whose answer is being written; `attempt` has the epoch of the run in it, which fences it. One object for all its pieces. */
export type LiveStep = {
  readonly runId: string;
  readonly threadId: string;
  readonly step: string;
  readonly attempt: number;
  /** `<run>/<step>`: made once, not for every piece. */
  readonly key: string;
};

export function liveStep(place: Omit<LiveStep, "key">): LiveStep {
  return { ...place, key: `${place.runId}/${place.step}` };
}

/** A piece of a message that is being written; `whole`: all of this kind, with the piece. */
export type Delta = {
  readonly of: LiveStep;
  readonly kind: DeltaKind;
  readonly offset: number;
  readonly text: string;
  readonly whole: string;
};

/** Collects the live text of all runs of this node and writes it in one statement per interval. */
export type DeltaWriter = {
  add(delta: Delta): void;
  /** The attempt before this one failed: what was told of it is not so. */
  again(of: LiveStep, retry: Retry): void;
  /** The step is an item now (or withdrawn): drops what was not written; true if some was, so that it must be deleted. */
  settle(runId: string, step: string): boolean;
  /** Nothing of the run is written here any more. */
  forget(runId: string): void;
  /** Something in this thread changed that followers on other nodes want to see. */
  touch(threadId: string): void;
  /** A run elsewhere is to be stopped. */
  tellStop(runId: string): void;
  close(): Promise<void>;
};

export const channel = "colloquy";
/** What nodes tell one another; at most 8000 bytes a NOTIFY, so a long list becomes "look at everything". */
const noticeSchema = z.object({
  node: z.string(),
  threads: z.union([z.literal("all"), z.array(z.string())]),
  stop: z.array(z.string()).optional(),
});
export type Notice = Readonly<z.infer<typeof noticeSchema>>;

/** Undefined for what no node of ours said: whoever can reach the database can notify. */
export function parseNotice(payload: string): Notice | undefined {
  try {
    return noticeSchema.safeParse(JSON.parse(payload)).data;
  } catch {
    return undefined;
  }
}

type DeltaPiece = { readonly offset: number; text: string };
type Pieces = { readonly [Kind in WrittenKind]?: DeltaPiece | undefined };
type OpenPieces = { [Kind in WrittenKind]?: DeltaPiece | undefined };
/** As it is written: a row of the table. */
type DeltaRow = {
  readonly run_id: string;
  readonly step: string;
  readonly attempt: number;
  readonly kind: WrittenKind;
  readonly off: number;
  readonly body: string;
  readonly thread_id: string;
};

export function createDeltaWriter(options: {
  database: Database;
  node: string;
  intervalMs: number;
  log: Log;
}): DeltaWriter {
  const { database, node, log } = options;
  const remote = database.kind === "postgres";
  const unwritten = new Map<LiveStep, OpenPieces>();
  const written = new Map<string, Set<string>>();
  const threads = new Set<string>();
  const stops = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let flushing: Promise<void> = Promise.resolve();

  const schedule = () => {
    if (closed) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      flushing = flushing
        .then(flush)
        .catch((error: unknown) => log.warn({ error: String(error) }, "live text was not stored; trying again"));
    }, options.intervalMs);
  };

  async function flush(): Promise<void> {
    const taken = [...unwritten];
    unwritten.clear();
    const notice = remote ? noticeText(node, threads, stops) : undefined;
    threads.clear();
    stops.clear();
    for (const [{ runId, step }] of taken) {
      const steps = written.get(runId) ?? new Set();
      written.set(runId, steps.add(step));
    }
    if (taken.length === 0) {
      if (notice) await database.query("select pg_notify($1, $2)", [channel, notice]);
      return;
    }
    try {
      await write(
        taken.flatMap(([of, pieces]) => rowsOf(of, pieces)),
        notice,
      );
    } catch (error) {
      for (const [of, pieces] of taken) putBack(of, pieces);
      schedule();
      throw error;
    }
  }

  /** The text that could not be written goes before what has come since, or its reader would find a gap. */
  function putBack(of: LiveStep, pieces: Pieces): void {
    if (!written.get(of.runId)?.has(of.step)) return;
    const since = unwritten.get(of);
    threads.add(of.threadId);
    unwritten.set(of, {
      text: joined(pieces.text, since?.text),
      reasoning: joined(pieces.reasoning, since?.reasoning),
      retry: pieces.retry,
    });
  }

  async function write(rows: readonly DeltaRow[], notice: string | undefined): Promise<void> {
    await database.query(
      `with x as (select * from json_to_recordset($1::json)
                  as x (run_id uuid, step text, attempt integer, kind text, off integer, body text, thread_id uuid)),
            w as (insert into deltas (run_id, step, attempt, kind, off, body, thread_id)
                  select x.* from x join runs r on r.id = x.run_id and r.epoch = ${epochSql("x.attempt")} and r.status = 'running'
                  on conflict (run_id, step, attempt, kind, off) do update set body = excluded.body where length(excluded.body) > length(deltas.body))
       select ${notice ? "pg_notify($2, $3)" : "1"}`,
      // One text: a list of each column costs several times as much to write and to send.
      [jsonText(rows), ...(notice ? [channel, notice] : [])],
    );
  }

  function piecesOf(of: LiveStep): OpenPieces {
    const known = unwritten.get(of);
    if (known) return known;
    const pieces: OpenPieces = { text: undefined, reasoning: undefined, retry: undefined };
    unwritten.set(of, pieces);
    threads.add(of.threadId);
    return pieces;
  }

  return {
    again(of, retry) {
      piecesOf(of).retry = { offset: 0, text: JSON.stringify(retry) };
      schedule();
    },
    add({ of, kind, offset, text }) {
      const pieces = piecesOf(of);
      const piece = pieces[kind];
      if (piece) piece.text += text;
      else pieces[kind] = { offset, text };
      schedule();
    },
    settle(runId, step) {
      for (const of of unwritten.keys()) if (of.runId === runId && of.step === step) unwritten.delete(of);
      const steps = written.get(runId);
      const any = steps?.delete(step) ?? false;
      if (steps?.size === 0) written.delete(runId);
      return any;
    },
    forget(runId) {
      written.delete(runId);
      for (const of of unwritten.keys()) if (of.runId === runId) unwritten.delete(of);
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
      closed = true;
      clearTimeout(timer);
      await flushing;
      if (unwritten.size + threads.size + stops.size > 0)
        await flush().catch((error: unknown) =>
          log.warn({ error: String(error) }, "the last live text was not stored"),
        );
    },
  };
}

function joined(before: DeltaPiece | undefined, since: DeltaPiece | undefined): DeltaPiece | undefined {
  return before ? { ...before, text: before.text + (since?.text ?? "") } : since;
}

function rowsOf({ runId, threadId, step, attempt }: LiveStep, pieces: Pieces): DeltaRow[] {
  return (["retry", "text", "reasoning"] as const).flatMap((kind) => {
    const piece = pieces[kind];
    if (!piece) return [];
    return { run_id: runId, step, attempt, kind, off: piece.offset, body: piece.text, thread_id: threadId };
  });
}

function noticeText(node: string, threads: ReadonlySet<string>, stops: ReadonlySet<string>): string {
  const stop = stops.size > 0 ? [...stops].slice(0, 80) : undefined;
  return JSON.stringify({ node, threads: threads.size > 100 ? "all" : [...threads], stop } satisfies Notice);
}
