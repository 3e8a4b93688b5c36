import { z } from "zod";
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

type Piece = { readonly delta: Delta; text: string };

const keyOf = ({ runId, step, attempt, kind }: Delta) => `${runId}/${step}/${attempt}/${kind}`;

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
    try {
      await write(pieces, notice);
    } catch (error) {
      for (const piece of pieces) putBack(piece);
      schedule();
      throw error;
    }
  }

  /** The text that could not be written goes before what has come since, or its reader would find a gap. */
  function putBack({ delta, text }: Piece): void {
    if (!written.get(delta.runId)?.has(delta.step)) return;
    unwritten.set(keyOf(delta), { delta, text: text + (unwritten.get(keyOf(delta))?.text ?? "") });
  }

  async function write(pieces: readonly Piece[], notice: string | undefined): Promise<void> {
    const column = (pick: (piece: Piece) => unknown) => pieces.map(pick);
    await database.query(
      `with x as (select * from unnest($1::uuid[], $2::text[], $3::integer[], $4::text[], $5::integer[], $6::text[], $7::uuid[])
                  as x (run_id, step, attempt, kind, off, body, thread_id)),
            w as (insert into deltas (run_id, step, attempt, kind, off, body, thread_id)
                  select x.* from x join runs r on r.id = x.run_id and r.epoch = x.attempt and r.status = 'running'
                  on conflict (run_id, step, attempt, kind, off) do update set body = excluded.body where length(excluded.body) > length(deltas.body))
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
      const piece = unwritten.get(keyOf(delta));
      if (piece) piece.text += delta.text;
      else unwritten.set(keyOf(delta), { delta, text: delta.text });
      threads.add(delta.threadId);
      schedule();
    },
    settle(runId, step) {
      for (const [key, { delta }] of unwritten) if (delta.runId === runId && delta.step === step) unwritten.delete(key);
      const steps = written.get(runId);
      const any = steps?.delete(step) ?? false;
      if (steps?.size === 0) written.delete(runId);
      return any;
    },
    forget(runId) {
      written.delete(runId);
      for (const [key, { delta }] of unwritten) if (delta.runId === runId) unwritten.delete(key);
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

function noticeText(node: string, threads: ReadonlySet<string>, stops: ReadonlySet<string>): string {
  const stop = stops.size > 0 ? [...stops].slice(0, 80) : undefined;
  return JSON.stringify({ node, threads: threads.size > 100 ? "all" : [...threads], stop } satisfies Notice);
}
