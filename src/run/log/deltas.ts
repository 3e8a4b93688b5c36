import { z } from "zod";
import type { Log } from "../../protocol/base/log.ts";
import type { Retry } from "../../protocol/threads/events.ts";
import { epochSql } from "./standing.ts";
import { jsonText } from "../../protocol/base/json-text.ts";
import type { Database } from "../../store/driver/database.ts";

export type DeltaKind = "text" | "reasoning";
/** Kinds of rows: the text, the reasoning, and (as JSON) why the previous attempt failed. */
type WrittenKind = DeltaKind | "retry";

/** A step whose answer is being written. `attempt` contains the run's epoch, which fences it. One object is shared by all its pieces. */
export type LiveStep = {
  readonly runId: string;
  readonly threadId: string;
  readonly step: string;
  readonly attempt: number;
  /** `<run>/<step>`, computed once and not for every piece. */
  readonly key: string;
};

export function liveStep(place: Omit<LiveStep, "key">): LiveStep {
  return { ...place, key: `${place.runId}/${place.step}` };
}

/** A piece of a message that is being written; `whole` is all text of this kind so far, including the piece. */
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
  /** Announces a new attempt: the text sent for the failed one before it is void. */
  restart(of: LiveStep, retry: Retry): void;
  /** Drops a step's unwritten text, since it is an item now or was withdrawn. Returns true if rows were written, which must be deleted. */
  settle(runId: string, step: string): boolean;
  /** Drops everything of a run: this process writes nothing more of it. */
  forget(runId: string): void;
  /** Notifies other nodes that something in this thread changed. */
  touch(threadId: string): void;
  /** Asks other nodes to stop a run. */
  tellStop(runId: string): void;
  /** Lets other nodes know that a run is queued. */
  tellQueued(): void;
  close(): Promise<void>;
};

export const channel = "colloquy";
/** Payload between nodes. NOTIFY takes at most 8000 bytes, so a long list of threads becomes "all". */
const noticeSchema = z.object({
  node: z.string(),
  /** Items were added to these, or live text begun. */
  threads: z.union([z.literal("all"), z.array(z.string())]).default([]),
  /** Live text was added to these, to messages that had begun; only the ends of their ids, as this is told ten times a second. */
  live: z.union([z.literal("all"), z.array(z.string())]).default([]),
  stop: z.array(z.string()).optional(),
  /** A run is queued that the node which says so can't take. */
  queued: z.literal(true).optional(),
});
export type Notice = Readonly<z.infer<typeof noticeSchema>>;

/** Undefined for a foreign payload: anyone who can reach the database can notify. */
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
/** A row of the table `deltas`. */
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
  const growing = new Set<string>();
  /** Of which other nodes know: they read what is added to it by its offset. */
  const begun = new WeakSet<LiveStep>();
  const stops = new Set<string>();
  let queued = false;
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
    const notice = remote ? noticeText({ node: shortId(node), threads, growing, stops, queued }) : undefined;
    queued = false;
    threads.clear();
    growing.clear();
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
      for (const [of] of taken) begun.add(of);
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
    (begun.has(of) ? growing : threads).add(of.threadId);
    return pieces;
  }

  return {
    restart(of, retry) {
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
    tellQueued() {
      if (!remote) return;
      queued = true;
      schedule();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await flushing;
      if (unwritten.size + threads.size + stops.size > 0 || queued)
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

/** The random end of an id: enough to know a node, or a thread for which at worst nothing new is found. */
export function shortId(id: string): string {
  return id.slice(-12);
}

type Changes = {
  readonly node: string;
  readonly threads: ReadonlySet<string>;
  readonly growing: ReadonlySet<string>;
  readonly stops: ReadonlySet<string>;
  readonly queued: boolean;
};

function noticeText({ node, threads, growing, stops, queued }: Changes): string {
  const live = [...growing].filter((id) => !threads.has(id)).map(shortId);
  const most = 100;
  return JSON.stringify({
    node,
    ...(threads.size > 0 && { threads: threads.size > most ? "all" : [...threads] }),
    ...(live.length > 0 && { live: threads.size + live.length > most ? "all" : live }),
    ...(stops.size > 0 && { stop: [...stops].slice(0, 80) }),
    ...(queued && { queued }),
  } satisfies z.input<typeof noticeSchema>);
}
