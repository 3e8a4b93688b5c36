import { Worker } from "node:worker_threads";
import { Unavailable } from "../../protocol/base/errors.ts";
import type { Query } from "../../protocol/agents/tools.ts";
import type { Database, TransactionOptions } from "./database.ts";
import type { WireError, WorkerAnswer, WorkerData, WorkerRequest, WorkerResult } from "./pglite-protocol.ts";
import { planIsStale } from "./sql-state.ts";
import { createStatementNames } from "./statement-names.ts";
import { runTransaction } from "./transaction.ts";
import { toWireValue } from "./values.ts";

export type PGliteOptions = {
  /** Where the database is, or is to be made. */
  readonly directory: string;
  /** A database to begin with, if one is to be made: a folder, which need not be there. */
  readonly prepared?: string;
  readonly onStep?: (text: string) => void;
};

/** A database in this process: PGlite in a thread of its own, so that a long statement stops nobody but SQL. */
export type PGliteDatabase = Omit<Database, "announce" | "token"> & {
  /** How many fsyncs have reached the disk. */
  readonly syncs: () => number;
};

type PendingQuery = { readonly resolve: (result: WorkerResult) => void; readonly reject: (error: Error) => void };

export async function openPGlite({ directory, prepared, onStep }: PGliteOptions): Promise<PGliteDatabase> {
  const syncs = new SharedArrayBuffer(4);
  const workerData: WorkerData = { directory, syncs, ...(prepared === undefined ? {} : { prepared }) };
  // It holds the objects of one answer at a time: with more room for young ones it keeps 40 MB for nothing.
  const resourceLimits = { maxYoungGenerationSizeMb: 12 };
  const worker = new Worker(new URL("./pglite-worker.ts", import.meta.url), { workerData, resourceLimits });

  const answers = new Map<number, PendingQuery>();
  const listeners = new Map<string, Set<(payload: string) => void>>();
  const ready = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<Error>();
  const names = createStatementNames();
  let lastId = 0;
  let gone: Unavailable | undefined;
  let closing: Promise<void> | undefined;

  function fail(error: Unavailable): void {
    gone ??= error;
    if (!closing) failed.resolve(gone);
    ready.reject(gone);
    for (const { reject } of answers.values()) reject(gone);
    answers.clear();
  }

  worker.on("message", (answer: WorkerAnswer) => {
    switch (answer.kind) {
      case "result":
        answers.get(answer.id)?.resolve(answer.result);
        answers.delete(answer.id);
        break;
      case "failure":
        if (answer.error.code === planIsStale) names.renew();
        answers.get(answer.id)?.reject(new PGliteError(answer.error));
        answers.delete(answer.id);
        break;
      case "notification":
        for (const hear of listeners.get(answer.channel) ?? []) hear(answer.payload);
        break;
      case "step":
        onStep?.(answer.text);
        break;
      case "ready":
        ready.resolve();
        break;
      case "fatal":
        fail(
          new Unavailable(`The database in ${directory} has failed: ${answer.message}`, { code: "database_failed" }),
        );
        break;
    }
  });
  worker.on("error", (cause) => {
    fail(new Unavailable(`The database in ${directory} has failed.`, { code: "database_failed", cause }));
  });
  const exited = new Promise<void>((resolve) => {
    worker.on("exit", () => {
      fail(new Unavailable(`The database in ${directory} is closed.`, { code: "database_closed" }));
      resolve();
    });
  });
  await ready.promise;

  function post(request: WorkerRequest): Promise<WorkerResult> {
    if (gone) return Promise.reject(gone);
    return new Promise((resolve, reject) => {
      answers.set(request.id, { resolve, reject });
      worker.postMessage(request);
    });
  }

  /** Async, so that a value that can't be sent fails its own caller and not whoever works off the queue. */
  async function send(text: string, values: readonly unknown[] | undefined, loose: boolean): Promise<WorkerResult> {
    database.onTrip?.(text);
    const name = values?.length ? names.of(text) : undefined;
    return post({ id: ++lastId, kind: "query", text, values: values?.map(toWireValue) ?? [], name, loose });
  }

  // There is one connection. The worker keeps the order of what is sent, so it is enough that nothing is sent
  // between a BEGIN and its end but by the transaction itself.
  let busy = false;
  const queue: (() => void)[] = [];

  function whenFree(start: () => void): void {
    if (busy) queue.push(start);
    else start();
  }

  function free(): void {
    busy = false;
    while (!busy && queue.length > 0) queue.shift()!();
  }

  function sendWhenFree(text: string, values?: readonly unknown[]): Promise<WorkerResult> {
    if (!busy) return send(text, values, true);
    return new Promise((resolve, reject) => whenFree(() => send(text, values, true).then(resolve, reject)));
  }

  const inside: Query = async <Row extends object>(text: string, values?: readonly unknown[]) =>
    (await send(text, values, false)).rows as Row[];

  async function transaction<Value>(
    body: (query: Query) => Promise<Value>,
    options?: TransactionOptions,
  ): Promise<Value> {
    await new Promise<void>((resolve) =>
      whenFree(() => {
        busy = true;
        resolve();
      }),
    );
    try {
      return await runTransaction(
        { query: inside, end: async (text) => (await send(text, [], false)).command },
        body,
        options,
      );
    } finally {
      free();
    }
  }

  async function listen(channel: string, hear: (payload: string) => void): Promise<() => Promise<void>> {
    const hearers = listeners.get(channel) ?? new Set();
    listeners.set(channel, hearers.add(hear));
    await sendWhenFree(`listen ${quoted(channel)}`);
    return async () => {
      hearers.delete(hear);
      if (hearers.size > 0 || gone) return;
      await sendWhenFree(`unlisten ${quoted(channel)}`);
    };
  }

  function close(): Promise<void> {
    closing ??= new Promise<void>((resolve) => {
      whenFree(() => {
        post({ id: ++lastId, kind: "close" }).catch(() => worker.terminate());
        resolve(exited);
      });
    });
    return closing;
  }

  const database: PGliteDatabase = {
    // One connection, which is worked off in order: there is nothing to keep apart.
    get pulse() {
      return database;
    },
    get listing() {
      return database;
    },
    get maintenance() {
      return database;
    },
    kind: "pglite",
    label: directory,
    query: async <Row extends object>(text: string, values?: readonly unknown[]) =>
      (await sendWhenFree(text, values)).rows as Row[],
    script: async (text) => (await sendWhenFree(text)).rows,
    transaction,
    listen,
    close,
    failed: failed.promise,
    syncs: () => Atomics.load(new Int32Array(syncs), 0),
  };
  return database;
}

/** An SQL error with the fields that the `pg` driver gives: `code` is the SQLSTATE. */
class PGliteError extends Error {
  readonly code: string | undefined;

  constructor(error: WireError) {
    super(error.message);
    this.name = "PGliteError";
    this.code = error.code;
    Object.assign(this, error);
  }
}

function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
