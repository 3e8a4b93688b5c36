import { useSyncExternalStore } from "react";
import type { DocumentResultView, DocumentView } from "../../src/protocol/knowledge/documents.ts";
import { ColloquyError, InvalidInput } from "../../src/protocol/base/errors.ts";
import { createListeners } from "../browser/listeners.ts";
import { client, reasonOf } from "../page/server.ts";

/** Something that is on its way into a collection. */
export type PendingUpload = {
  readonly key: number;
  readonly collectionId: string;
  readonly name: string;
  readonly state: "waiting" | "sending" | "sent" | "stopped";
  /** How much of it was sent, from 0 to 1. */
  readonly part: number;
  /** Why it was not sent. */
  readonly problem?: string;
  /** The same content would be refused again. */
  readonly isFinal?: boolean;
  readonly outcome?: DocumentResultView["outcome"];
  readonly document?: DocumentView;
};

type UploadSource = { readonly name: string; send(adding: TransferOptions): Promise<DocumentResultView> };
type TransferOptions = { readonly onProgress: (part: number) => void; readonly signal: AbortSignal };

const atOnce = 3;
/** Documents that are asked after in a second. */
const askedAtOnce = 8;
const lookMs = 700;

let additions: readonly PendingUpload[] = [];
let keys = 0;
const jobs = new Map<number, { readonly brought: UploadSource; readonly stop: AbortController }>();
const listeners = createListeners();

function tell(next: readonly PendingUpload[]): void {
  additions = next;
  listeners.tell();
}
function change(key: number, what: Partial<PendingUpload>): void {
  tell(additions.map((each) => (each.key === key ? { ...each, ...what } : each)));
}

/** What is being added to a collection; it goes on while one looks elsewhere on the page. */
export function useUploads(collectionId: string): readonly PendingUpload[] {
  const all = useSyncExternalStore(listeners.listen, () => additions);
  return all.filter((each) => each.collectionId === collectionId);
}

export function addFiles(
  collectionId: string,
  files: readonly { readonly name: string; readonly content: Blob }[],
  refuse: (content: Blob) => string | undefined,
): void {
  bring(
    collectionId,
    files.map(({ name, content }) => ({
      name,
      async send(options) {
        const problem = refuse(content);
        if (problem !== undefined) throw new InvalidInput(problem);
        return client.knowledge.sendFile(collectionId, { name, content }, options);
      },
    })),
  );
}

export function addText(collectionId: string, text: { readonly name: string; readonly text: string }): void {
  bring(collectionId, [
    { name: text.name, send: ({ signal }) => client.knowledge.addText(collectionId, text, signal) },
  ]);
}

export function addUrls(collectionId: string, urls: readonly string[]): void {
  bring(
    collectionId,
    urls.map((url) => ({
      name: url,
      async send({ signal }) {
        const { data, problems } = await client.knowledge.addUrls(collectionId, [url], signal);
        if (!data[0]) throw new Error(problems[0]?.message ?? url);
        return data[0];
      },
    })),
  );
}

/** Sends it again, or has it read again. */
export function retryUpload({ key, document }: PendingUpload): void {
  if (!document) {
    change(key, { state: "waiting", part: 0, problem: undefined });
    sendNext();
    return;
  }
  client.knowledge.retry(document.id).then(
    (next) => {
      change(key, { document: next, problem: undefined });
      watch();
    },
    (error: unknown) => change(key, { problem: reasonOf(error) }),
  );
}

export function cancelUpload({ key }: PendingUpload): void {
  jobs.get(key)?.stop.abort();
  jobs.delete(key);
  tell(additions.filter((each) => each.key !== key));
  sendNext();
}

/** It is read again because of what was done elsewhere. */
export function resumeFollowing(document: DocumentView): void {
  tell(additions.map((each) => (each.document?.id === document.id ? { ...each, document, problem: undefined } : each)));
  watch();
}

/** It is not there any more. */
export function forgetDocument(id: string): void {
  tell(additions.filter(({ document }) => document?.id !== id));
}

/** Forgets what is through. */
export function clearDone(collectionId: string): void {
  const isDone = (each: PendingUpload) => each.collectionId === collectionId && !isMoving(each);
  for (const each of additions) if (isDone(each)) jobs.delete(each.key);
  tell(additions.filter((each) => !isDone(each)));
}

export function isReady({ document }: PendingUpload): boolean {
  return document?.status === "ready";
}
export function hasFailed({ state, document, problem }: PendingUpload): boolean {
  return state === "stopped" || problem !== undefined || document?.status === "failed";
}
/** The server has it and can't read it: why, and what can be done, stands with the documents. */
export function isUnread({ document, problem }: PendingUpload): boolean {
  return document?.status === "failed" && problem === undefined;
}
export function isMoving(adding: PendingUpload): boolean {
  return !isReady(adding) && !hasFailed(adding);
}

function bring(collectionId: string, all: readonly UploadSource[]): void {
  const added = all.map((brought): PendingUpload => {
    const key = ++keys;
    jobs.set(key, { brought, stop: new AbortController() });
    return { key, collectionId, name: brought.name, state: "waiting", part: 0 };
  });
  tell([...additions, ...added]);
  sendNext();
}

function sendNext(): void {
  const free = atOnce - additions.filter(({ state }) => state === "sending").length;
  for (const { key } of additions.filter(({ state }) => state === "waiting").slice(0, Math.max(0, free)))
    void send(key);
}

async function send(key: number): Promise<void> {
  const job = jobs.get(key);
  if (!job) return;
  change(key, { state: "sending" });
  try {
    const { outcome, document } = await job.brought.send({
      onProgress: (part) => change(key, { part }),
      signal: job.stop.signal,
    });
    change(key, { state: "sent", part: 1, outcome, document });
    jobs.delete(key);
    watch();
  } catch (error) {
    if (!job.stop.signal.aborted)
      change(key, { state: "stopped", problem: reasonOf(error), isFinal: isOfContent(error) });
  }
  sendNext();
}

/** Whether the server refused what was sent, not the moment. */
function isOfContent(error: unknown): boolean {
  return error instanceof ColloquyError && [400, 413, 415, 422].includes(error.status);
}

let watching: ReturnType<typeof setTimeout> | undefined;

/** Asks how the documents are that were sent, until each is read or can't be; those longest not asked after first. */
function watch(): void {
  watching ??= setTimeout(() => {
    const open = additions.filter((each) => each.document && isMoving(each)).toSorted(byLook);
    void Promise.all((document.hidden ? [] : open.slice(0, askedAtOnce)).map(look)).then(() => {
      watching = undefined;
      if (additions.some((each) => each.document && isMoving(each))) watch();
    });
  }, lookMs);
}

const looks = new Map<number, number>();
let round = 0;
const byLook = (one: PendingUpload, other: PendingUpload) =>
  (looks.get(one.key) ?? 0) - (looks.get(other.key) ?? 0) || one.key - other.key;

async function look({ key, document }: PendingUpload): Promise<void> {
  looks.set(key, ++round);
  try {
    change(key, { document: await client.knowledge.document(document!.id) });
  } catch (error) {
    // Whether the server is reached says nothing of the document.
    if (error instanceof ColloquyError && error.status < 500) change(key, { problem: reasonOf(error) });
  }
}

addEventListener("beforeunload", (event) => {
  if (additions.some(({ state }) => state === "waiting" || state === "sending")) event.preventDefault();
});
