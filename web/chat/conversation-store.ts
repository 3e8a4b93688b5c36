import { useSyncExternalStore } from "react";
import type { DecisionInput } from "../../src/client/questions.ts";
import type { BlockOf } from "../../src/client/conversation.ts";
import { client, reasonOf } from "../server.ts";
import { createTurns, type Turn, type Turns } from "./turns.ts";

export type ConversationState = {
  readonly threadId: string | undefined;
  readonly turns: readonly Turn[];
  readonly head: string | null;
  readonly working: readonly { readonly run: string; readonly agent: string | undefined }[];
  readonly open: readonly BlockOf<"question">[];
  /** What was said here and waits behind the run at work. */
  readonly waiting: readonly { readonly run: string; readonly text: string }[];
  readonly isLoading: boolean;
  readonly error: string | undefined;
};

const empty: ConversationState = {
  threadId: undefined,
  turns: [],
  head: null,
  working: [],
  open: [],
  waiting: [],
  isLoading: false,
  error: undefined,
};
/** Of a long thread its newest. */
const mostItems = 500;

/** The conversation that the page shows: read from the log, then followed. */
let state = empty;
let turns: Turns = createTurns();
let following = new AbortController();
let scheduled = false;
const listeners = new Set<() => void>();

export function useConversation(): ConversationState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

function set(change: Partial<ConversationState>): void {
  state = { ...state, ...change };
  for (const listener of listeners) listener();
}

/** At most once a frame, however fast the text comes. */
function changed(): void {
  if (scheduled) return;
  scheduled = true;
  const show = () => {
    scheduled = false;
    const working = [...turns.working()].map(([run, agent]) => ({ run, agent }));
    const begun = new Set(turns.all().map(({ run }) => run));
    const waiting = state.waiting.filter(({ run }) => !begun.has(run));
    set({ turns: turns.all(), head: turns.head(), working, open: turns.open(), waiting });
  };
  if (document.visibilityState === "visible") requestAnimationFrame(show);
  else setTimeout(show, 100);
}

/** Undefined: a new conversation, which has no thread before something is said. */
export async function openConversation(threadId: string | undefined): Promise<void> {
  if (threadId === state.threadId && (threadId !== undefined || state.turns.length === 0)) return;
  following.abort();
  following = new AbortController();
  const { signal } = following;
  turns = createTurns();
  set({ ...empty, threadId, isLoading: threadId !== undefined });
  if (threadId === undefined) return;
  try {
    const items = [...(await client.items(threadId, { order: "desc", limit: mostItems }, signal))].reverse();
    if (signal.aborted) return;
    for (const item of items) turns.read(item);
    const runs = await client.runs({ thread: threadId, limit: 20 }, signal);
    turns.conversation.atWork(runs.filter(({ status }) => status === "running" || status === "waiting"));
    for (const { id } of runs.filter(({ status }) => status === "waiting")) await learnQuestions(id, signal);
    set({ isLoading: false });
    changed();
    void follow(threadId, String(items.at(-1)?.seq ?? 0), signal);
  } catch (error) {
    if (!signal.aborted) set({ isLoading: false, error: reasonOf(error) });
  }
}

async function learnQuestions(run: string, signal: AbortSignal): Promise<void> {
  const { questions } = await client.run(run, signal);
  for (const question of questions) turns.conversation.ask(question);
  changed();
}

async function follow(threadId: string, cursor: string, signal: AbortSignal): Promise<void> {
  try {
    for await (const { event } of client.followThread(threadId, { cursor, signal, patienceMs: Infinity })) {
      if (!turns.apply(event)) return await readAgain(threadId);
      if (event.type === "run-wait" && event.reason !== "client") await learnQuestions(event.run, signal);
      changed();
    }
  } catch (error) {
    if (!signal.aborted) set({ error: reasonOf(error) });
  }
}

async function readAgain(threadId: string): Promise<void> {
  set({ threadId: undefined });
  await openConversation(threadId);
}

/** A thread that this page just made: nothing of it need be read. */
export function beginConversation(threadId: string): void {
  following.abort();
  following = new AbortController();
  turns = createTurns();
  set({ ...empty, threadId });
  void follow(threadId, "0", following.signal);
}

/** Also of a delegated run, whose thread is not followed. */
export async function decideHere(question: BlockOf<"question">, input: DecisionInput): Promise<void> {
  await client.decide({ id: question.id, runId: question.run }, input);
  turns.conversation.decided(question.key, input.decision);
  changed();
}

export function waitsHere(run: string, text: string): void {
  set({ waiting: [...state.waiting, { run, text }] });
  changed();
}

/** Taken back before its turn came. */
export async function takeBack(run: string): Promise<void> {
  await client.cancel(run);
  set({ waiting: state.waiting.filter((each) => each.run !== run) });
}

export function failedHere(error: unknown): void {
  set({ error: reasonOf(error) });
}
export function forgetFailure(): void {
  if (state.error !== undefined) set({ error: undefined });
}
