import type { DocumentProgress } from "../../protocol/knowledge/documents.ts";
import { ColloquyError, messageOf } from "../../protocol/base/errors.ts";
import { newId } from "../../protocol/base/ids.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { LeasedDocument } from "../../store/knowledge/documents.ts";
import {
  failDocument,
  releaseAllDocuments,
  releaseDocument,
  takeDocument,
  touchDocument,
} from "../../store/knowledge/queue.ts";
import { ingest, type IngestOptions, LostDocument } from "./ingest.ts";
import { UnreadableFile } from "../parse/parsed.ts";

/** Processes queued documents on this node. */
export type IngestQueue = {
  /** Call when there may be queued documents. */
  wake(): void;
  /** Stops; documents in progress return to the queue. */
  stop(): Promise<void>;
};

export type IngestQueueOptions = IngestOptions & {
  /** Number of documents processed at the same time. */
  readonly readers: number;
  /** Called when a document of the collection has become searchable. */
  readonly onReady: (collectionId: string) => void;
  readonly log: Log;
};

const pollMs = 5000;
const touchMs = 15_000;
const tellMs = 1000;
const maxAttempts = 6;
const firstRetrySeconds = 5;

export async function startIngestQueue(options: IngestQueueOptions): Promise<IngestQueue> {
  const { database, readers, onReady, log } = options;
  const { query } = database;
  const stopping = new AbortController();
  const working = new Set<Promise<void>>();
  if (database.kind === "pglite") await releaseAllDocuments(query);

  let looking = false;
  let again = false;
  const look = async (): Promise<void> => {
    if (looking) {
      again = true;
      return;
    }
    looking = true;
    try {
      while (!stopping.signal.aborted && working.size < readers) {
        const document = await takeDocument(query, newId());
        if (!document) break;
        const work = workOn(document).finally(() => {
          working.delete(work);
          void look();
        });
        working.add(work);
      }
    } catch (error) {
      log.warn({ error: messageOf(error) }, "documents could not be taken from the queue");
    } finally {
      looking = false;
    }
    if (!again) return;
    again = false;
    await look();
  };

  async function workOn(document: LeasedDocument): Promise<void> {
    const lost = new AbortController();
    const signal = AbortSignal.any([stopping.signal, lost.signal]);
    let progress: DocumentProgress = {};
    let told = 0;
    let touched = Promise.resolve();
    const touch = () => {
      touched = touched.then(() =>
        touchDocument(query, document, progress).then(
          (mine) => (mine ? undefined : lost.abort(new LostDocument())),
          (error: unknown) => log.warn({ error: messageOf(error) }, "a document's progress was not told"),
        ),
      );
    };
    const tell = (next: DocumentProgress) => {
      const isNew = next.stage !== progress.stage;
      progress = next;
      if (!isNew && performance.now() - told < tellMs) return;
      told = performance.now();
      touch();
    };
    const timer = setInterval(touch, touchMs);
    try {
      if (document.attempts > maxAttempts)
        throw new UnreadableFile("broken", `Reading it was begun ${maxAttempts} times and never ended.`);
      await ingest(document, tell, { ...options, signal });
      onReady(document.collectionId);
    } catch (error) {
      if (lost.signal.aborted || error instanceof LostDocument) return;
      if (stopping.signal.aborted) return await releaseDocument(query, document).catch(() => {});
      await failed(document, error);
    } finally {
      clearInterval(timer);
      await touched;
    }
  }

  async function failed(document: LeasedDocument, error: unknown): Promise<void> {
    const { attempts, id } = document;
    const isFinal =
      error instanceof UnreadableFile ||
      (error instanceof ColloquyError && error.status < 500) ||
      attempts >= maxAttempts;
    const retrySeconds = isFinal ? undefined : firstRetrySeconds * 2 ** (attempts - 1);
    if (!(error instanceof UnreadableFile) && !(error instanceof ColloquyError))
      log.warn({ document: id, error: messageOf(error) }, "a document could not be read");
    const told =
      error instanceof UnreadableFile || error instanceof ColloquyError
        ? error.message
        : "An error of the server; its log says more.";
    await failDocument(query, document, { error: told, retrySeconds }).catch((cause: unknown) =>
      log.warn({ document: id, error: messageOf(cause) }, "a document's failure was not noted"),
    );
  }

  const poll = setInterval(() => void look(), pollMs).unref();
  void look();
  return {
    wake: () => void look(),
    async stop() {
      clearInterval(poll);
      stopping.abort(new Error("The server stops."));
      await Promise.all(working);
    },
  };
}
