import { messageOf } from "../../protocol/base/errors.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Database } from "../../store/driver/database.ts";
import { findCollection } from "../../store/knowledge/collections.ts";
import { type CompleteTerms, ensureIndexes } from "../../store/knowledge/indexes.ts";

/** Keeps the indexes of collections as they should be, one collection at a time. */
export type IndexKeeper = {
  /** Something has changed in it. */
  wake(collectionId: string): void;
  close(): Promise<void>;
};

const roundMs = 10 * 60_000;

/** All are looked at once at the start, after an import say, and in each round. */
export function startIndexKeeper({ database, log }: { readonly database: Database; readonly log: Log }): IndexKeeper {
  const stopping = new AbortController();
  const due = new Set<string>();
  const complete: CompleteTerms = new Map();
  let work: Promise<void> | undefined;

  async function workOff(): Promise<void> {
    for (const id of due) {
      due.delete(id);
      try {
        const collection = await findCollection(database.query, id);
        if (!collection) {
          complete.delete(id);
          continue;
        }
        const { settings, embeddingModel, dimension } = collection;
        const { language: textConfig, indexType } = settings;
        const indexed = { id, textConfig, embeddingModel, dimension, indexType };
        await ensureIndexes(database, indexed, stopping.signal, complete);
      } catch (error) {
        if (stopping.signal.aborted) return;
        log.warn({ collection: id, error: messageOf(error) }, "the indexes of a collection were not made");
      }
    }
  }

  function wake(id: string): void {
    due.add(id);
    if (stopping.signal.aborted) return;
    work ??= workOff().finally(() => {
      work = undefined;
      if (due.size > 0 && !stopping.signal.aborted) wake([...due][0]!);
    });
  }

  async function round(): Promise<void> {
    try {
      const rows = await database.query<{ id: string }>(
        "select id from rag_collections where exists (select from rag_chunks where collection_id = rag_collections.id)",
      );
      for (const { id } of rows) wake(id);
    } catch (error) {
      log.warn({ error: messageOf(error) }, "could not check the collections");
    }
  }

  let rounds = round();
  const timer = setInterval(() => (rounds = rounds.then(round)), roundMs).unref();
  return {
    wake,
    async close() {
      clearInterval(timer);
      stopping.abort(new Error("The server stops."));
      await rounds;
      await work;
    },
  };
}
