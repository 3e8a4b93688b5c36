import { useSyncExternalStore } from "react";
import { t } from "@lingui/core/macro";
import type { PendingView } from "../../src/protocol/threads/threads.ts";
import type { BlockOf } from "../../src/client/conversation.ts";
import type { DecisionInput } from "../../src/client/decisions.ts";
import type { RunEvent } from "../../src/protocol/threads/events.ts";
import { ColloquyError } from "../../src/protocol/base/errors.ts";
import { isId } from "../../src/protocol/base/ids.ts";
import { createListeners } from "../browser/listeners.ts";
import { client, reasonOf } from "../page/server.ts";
import { newestOf } from "../parts/log/new-below.ts";
import { renderWhenReleased } from "../parts/render-when-released.ts";
import { followInTab } from "../parts/tab-stream.ts";
import { markSeen } from "../threads/read-marks.ts";
import { threadClient } from "../threads/thread-client.ts";
import { resumeChanges } from "../stream/changes.ts";
import { noteConnection, resetConnection } from "./connection-store.ts";
import { prepareMarkdown } from "../markdown/load-markdown.ts";
import { createLog, type ThreadLog } from "./thread-log.ts";
import { atEnd, keepFirstTurn, newerShown, olderShown, type TurnRange, shownAround, turnsShown } from "./turn-range.ts";
import type { Turn } from "./turns.ts";

export type ConversationState = {
  readonly threadId: string | undefined;
  /** Those on the page, with what stands in their place on other branches. */
  readonly turns: readonly Turn[];
  readonly head: string | null;
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
  /** Changes with what stands at the end of the thread. */
  readonly newest: string;
  /** More of the thread is being read. */
  readonly isReading: boolean;
  /** The turn that was asked for by its item. */
  readonly found: string | undefined;
  readonly working: readonly { readonly run: string; readonly agent: string | undefined }[];
  readonly open: readonly BlockOf<"question">[];
  /** What waits for its turn behind the run at work, wherever it was said. */
  readonly waiting: readonly PendingView[];
  readonly isLoading: boolean;
  /** It could not be read, or is not followed any more; `error` says why. */
  readonly isBroken: boolean;
  /** Because it is not there: reading it again would not help. */
  readonly isGone: boolean;
  readonly error: string | undefined;
};

const empty: ConversationState = {
  threadId: undefined,
  turns: [],
  head: null,
  hasOlder: false,
  hasNewer: false,
  newest: "",
  isReading: false,
  found: undefined,
  working: [],
  open: [],
  waiting: [],
  isLoading: false,
  isBroken: false,
  isGone: false,
  error: undefined,
};

/** The conversation that the page shows: read from the log, then followed. */
let state = empty;
let log: ThreadLog = createLog();
let shown: TurnRange = atEnd;
let following = new AbortController();
let scheduled = false;
/** Since it was shown, more than text has come. */
let isOther = false;
const listeners = createListeners();

export function useConversation(): ConversationState {
  return useSyncExternalStore(listeners.listen, () => state);
}

function set(change: Partial<ConversationState>): void {
  state = { ...state, ...change };
  listeners.tell();
}

/** Text that comes is shown so often, however fast it comes, and seldomer where that takes long: keys and scrolling have the time between. */
const paintMs = 50;
let nextAt = 0;

/** What is no text, with the next frame. */
function changed(event?: RunEvent): void {
  isOther ||= event === undefined || !/-delta$|^progress$/.test(event.type);
  if (scheduled) return;
  scheduled = true;
  const showNow = () => {
    scheduled = false;
    const began = performance.now();
    set(seen());
    // Behind what React does of it, which it puts off until then.
    queueMicrotask(() => {
      const now = performance.now();
      nextAt = now + Math.max(paintMs, 3 * (now - began));
    });
  };
  const show = () => renderWhenReleased(showNow);
  const waitMs = isOther ? 0 : nextAt - performance.now();
  if (document.visibilityState !== "visible") setTimeout(show, 100);
  else if (waitMs > 0) setTimeout(() => requestAnimationFrame(show), waitMs);
  else requestAnimationFrame(show);
}

function seen(): Partial<ConversationState> {
  const { hasOlder, hasNewer, ...rest } = turnsShown(log.turns(), shown);
  const isSame = rest.turns.length === state.turns.length && rest.turns.every((turn, at) => turn === state.turns[at]);
  const more = {
    head: rest.head,
    turns: isSame ? state.turns : rest.turns,
    hasOlder: hasOlder || log.hasOlder(),
    hasNewer: hasNewer || log.hasNewer(),
    newest: newestAtEnd(),
  };
  if (!isOther) return more;
  isOther = false;
  const { turns } = log.end();
  const working = [...turns.working()].map(([run, agent]) => ({ run, agent }));
  const waiting = state.waiting.filter(({ id }) => !turns.hasBegun(id));
  return { ...more, working, open: turns.open(), waiting };
}

function newestAtEnd(): string {
  const { turns } = log.end();
  return newestOf(turns.get(turns.head() ?? "")?.blocks ?? []);
}

/** Undefined: a new conversation, which has no thread before something is said. `item`: shown there, not at its end. */
export async function openConversation(threadId: string | undefined, item?: string): Promise<void> {
  const isSame = threadId === state.threadId && (threadId !== undefined || state.turns.length === 0);
  if (isSame) return item === undefined ? undefined : await showItem(item);
  const signal = begin(threadId);
  if (threadId === undefined) return;
  prepareMarkdown();
  // No server need be asked.
  if (!isId(threadId)) return set(gone);
  set({ isLoading: true });
  await read(threadId, signal, item);
}

function begin(threadId: string | undefined): AbortSignal {
  following.abort();
  resetConnection();
  following = new AbortController();
  log = createLog(threadId);
  shown = atEnd;
  isOther = true;
  set({ ...empty, threadId });
  return following.signal;
}

async function read(threadId: string, signal: AbortSignal, item?: string): Promise<void> {
  try {
    const [cursor, runs] = await Promise.all([
      log.readEnd(signal),
      client.runs({ thread: threadId, limit: 20 }, signal),
    ]);
    if (signal.aborted) return;
    const live = runs.filter(({ status }) => status === "running" || status === "waiting");
    log.tell((turns) => turns.conversation.atWork(live));
    void refreshOpenQuestions();
    for (const { id, status } of live) if (status === "waiting") await learnQuestions(id, signal);
    // The shown branch may have begun where nothing was read.
    while (log.turns().head() === null && log.hasOlder()) await log.readOlder(signal);
    if (signal.aborted) return;
    shown = keepFirstTurn(log.turns(), atEnd);
    isOther = true;
    if (item !== undefined) await showItem(item);
    if (signal.aborted) return;
    set({ ...seen(), isLoading: false, isReading: false });
    markSeen(threadId, Number(cursor));
    void follow(threadId, cursor, signal);
  } catch (error) {
    if (!signal.aborted) set({ isLoading: false, ...brokenBy(error) });
  }
}

/** After it could not be read. */
export async function reopenConversation(): Promise<void> {
  const { threadId } = state;
  if (threadId === undefined) return;
  const signal = begin(threadId);
  set({ isLoading: true });
  resumeChanges();
  await read(threadId, signal);
}

async function learnQuestions(run: string, signal: AbortSignal): Promise<void> {
  const { questions } = await client.run(run, signal);
  for (const question of questions) log.tell((turns) => turns.conversation.ask(question));
  changed();
}

async function follow(threadId: string, cursor: string, signal: AbortSignal): Promise<void> {
  try {
    for await (const { event } of followInTab<RunEvent>({
      subject: { of: "thread", id: threadId },
      options: { cursor, signal, onConnection: noteConnection },
      isNeeded: isAtWork,
    })) {
      if ("seq" in event) markSeen(threadId, event.seq);
      if (!log.apply(event)) return await readAgain(threadId);
      if (event.type === "run-start" || event.type === "run-end") void refreshOpenQuestions();
      if (event.type === "run-wait" && event.reason !== "client") await learnQuestions(event.run, signal);
      changed(event);
    }
  } catch (error) {
    if (!signal.aborted) set(brokenBy(error));
  }
}

/** Not what waits for a person, of whom the attention of the page tells. */
function isAtWork(): boolean {
  const { turns } = log.end();
  return turns.open().length === 0 && (turns.working().size > 0 || state.waiting.length > 0);
}

const gone = {
  isBroken: true,
  isGone: true,
  error: t`Conversation not found. It was deleted, or the address is wrong.`,
} as const;

function brokenBy(error: unknown): Partial<ConversationState> {
  const isGone = error instanceof ColloquyError && error.status === 404;
  return isGone ? gone : { isBroken: true, error: reasonOf(error) };
}

/** What is shown stays until the new is there. */
async function readAgain(threadId: string): Promise<void> {
  following.abort();
  following = new AbortController();
  log = createLog(threadId);
  shown = atEnd;
  await read(threadId, following.signal);
}

/** A thread that this page just made: nothing of it need be read. */
export function beginConversation(threadId: string): void {
  prepareMarkdown();
  void follow(threadId, "0", begin(threadId));
}

/** `before`: called right before more is on the page, so that the place is kept. */
export async function showOlder(before: () => void): Promise<void> {
  await showMore(before, olderShown, () => log.hasOlder() && log.readOlder(following.signal, state.turns[0]?.id));
}

export async function showNewer(before: () => void): Promise<void> {
  await showMore(before, newerShown, () => log.hasNewer() && log.readNewer(following.signal, state.head ?? undefined));
}

async function showMore(
  before: () => void,
  next: typeof olderShown,
  readMore: () => false | Promise<void>,
): Promise<void> {
  if (state.isReading) return;
  const { signal } = following;
  const from = log;
  set({ isReading: true });
  try {
    // Other branches may stand between.
    for (;;) {
      const now = next(log.turns(), shown);
      if (now) {
        shown = now;
        break;
      }
      const reading = readMore();
      if (reading === false) break;
      await reading;
      if (signal.aborted || from !== log) return;
    }
    before();
    set({ ...seen(), isReading: false });
  } catch (error) {
    if (!signal.aborted) set({ error: reasonOf(error) });
  } finally {
    if (from === log && state.isReading) set({ isReading: false });
  }
}

/** Where one speaks. */
export function showEnd(): void {
  if (!state.hasNewer) return;
  log.toEnd();
  shown = keepFirstTurn(log.turns(), atEnd);
  set(seen());
}

/** What a search found, or a link names. */
async function showItem(item: string): Promise<void> {
  const { signal } = following;
  try {
    const turn = await log.readAround(item, signal);
    if (signal.aborted || turn === undefined) return;
    shown = shownAround(log.turns(), turn);
    set({ ...seen(), found: turn });
  } catch (error) {
    if (!signal.aborted) set({ error: reasonOf(error) });
  }
}

/** Also of a delegated run, whose thread is not followed. */
export async function decideQuestion(question: BlockOf<"question">, input: DecisionInput): Promise<void> {
  await client.decide({ id: question.id, runId: question.run }, input);
  log.tell((turns) => turns.conversation.decided(question.key, input.decision));
  changed();
}

let lastLook = 0;

/** What waits is told by no event: looked up where it may have changed. A list that was overtaken by a later look is not shown. */
export async function refreshOpenQuestions(): Promise<void> {
  const { threadId } = state;
  if (threadId === undefined) return;
  const { signal } = following;
  const look = ++lastLook;
  // Where there is no answer, the next look may have one.
  const found = await threadClient.pending(threadId, signal).catch(() => undefined);
  if (!found || signal.aborted || look !== lastLook) return;
  const { turns } = log.end();
  const waiting = found.filter(({ id }) => !turns.hasBegun(id));
  const isSame = waiting.length === state.waiting.length && waiting.every(({ id }, at) => id === state.waiting[at]?.id);
  if (!isSame) set({ waiting });
}

/** Taken back before its turn came. */
export async function withdrawMessage(run: string): Promise<void> {
  await client.cancel(run);
  lastLook++;
  set({ waiting: state.waiting.filter(({ id }) => id !== run) });
}

/** What failed in a conversation is told where that one is shown. */
export function failedIn(threadId: string | undefined, error: unknown): void {
  const why = reasonOf(error);
  if (threadId === state.threadId) set({ error: why });
}
export function forgetFailure(): void {
  if (state.error !== undefined) set({ error: undefined });
}
