import { silentLog } from "../../protocol/base/log.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { ModelCallRecord } from "../../protocol/agents/models.ts";

export type CallLogOptions = {
  /** Stores a batch; called again with the same records after an error. */
  readonly write: (records: readonly ModelCallRecord[]) => Promise<void>;
  readonly everyMs?: number;
  /** Batch size at which records are stored early. */
  readonly batch?: number;
  /** Maximum number of records to keep while the store is unavailable; the oldest are dropped. */
  readonly most?: number;
  readonly log?: Log;
};

export type CallLog = {
  add(record: ModelCallRecord): void;
  /** Stores the remaining records and stops. */
  close(): Promise<void>;
};

/** Collects the records of calls outside runs and stores them in batches. Records of a run are stored with the run. */
export function createCallLog(options: CallLogOptions): CallLog {
  const { write, everyMs = 1000, batch = 100, most = 10_000, log = silentLog } = options;
  let queue: ModelCallRecord[] = [];
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  function schedule(): void {
    if (queue.length === 0) return;
    if (queue.length >= batch && !writing) void flush();
    else timer ??= setTimeout(() => void flush(), everyMs).unref();
  }

  /** Stores one batch at a time. */
  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeOnce().finally(() => {
      writing = undefined;
    });
    await writing;
  }

  async function writeOnce(): Promise<void> {
    const records = queue;
    queue = [];
    if (records.length === 0) return;
    try {
      await write(records);
    } catch (error) {
      log.warn({ err: error, records: records.length }, "could not write the call log; retrying");
      queue = [...records, ...queue];
      shorten();
      timer ??= setTimeout(() => void flush(), everyMs).unref();
    }
    if (dropped > 0) {
      log.warn({ dropped }, "the call log could not keep up; the oldest records were dropped");
      dropped = 0;
    }
  }

  function shorten(): void {
    const tooMany = queue.length - most;
    if (tooMany <= 0) return;
    queue.splice(0, tooMany);
    dropped += tooMany;
  }

  return {
    add(record) {
      if (record.runId !== null) return;
      queue.push(record);
      shorten();
      schedule();
    },
    async close() {
      await writing;
      await flush();
      clearTimeout(timer);
    },
  };
}
