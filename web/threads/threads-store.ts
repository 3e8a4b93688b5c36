import { useEffect, useSyncExternalStore } from "react";
import type { ThreadView, ListedThread } from "../../src/protocol/threads/threads.ts";
import type { ThreadPage } from "../../src/client/threads.ts";
import { createListeners } from "../browser/listeners.ts";
import { client, reasonOf } from "../page/server.ts";
import { threadClient } from "./thread-client.ts";
import { titleOfCopy } from "./title-of-copy.ts";

export type ThreadListState = {
  readonly threads: readonly ListedThread[];
  readonly search: string;
  /** Only those that were put away; else none of them. */
  readonly archived: boolean;
  readonly hasMore: boolean;
  readonly isLoaded: boolean;
  readonly error: string | undefined;
};

const pageLength = 100;
const fresh = { threads: [], hasMore: false, isLoaded: false, error: undefined };

let listed: ThreadListState = { ...fresh, search: "", archived: false };
/** The one that is open, and as it was last seen: it may be in no list. */
let current: string | undefined;
let opened: ThreadView | undefined;
const listeners = createListeners();
/** Tabs of one browser tell one another. */
const channel = new BroadcastChannel("colloquy-threads");
channel.addEventListener("message", () => void load());

function set(change: Partial<ThreadListState>): void {
  listed = { ...listed, ...change };
  listeners.tell();
}

export function useThreads(): ThreadListState {
  useEffect(() => {
    void load();
    const onFocus = () => void load();
    addEventListener("focus", onFocus);
    return () => removeEventListener("focus", onFocus);
  }, []);
  return useSyncExternalStore(listeners.listen, () => listed);
}

/** One thread, whether it is in the list or not; undefined as long as it is not known. */
export function useThread(id: string | undefined): ThreadView | undefined {
  const thread = useSyncExternalStore(listeners.listen, () => find(id));
  useEffect(() => {
    if (id === undefined) return;
    current = id;
    if (!find(id)) void open(id);
  }, [id]);
  // A search may leave it out of the list.
  useEffect(() => {
    if (thread) opened = thread;
  }, [thread]);
  return thread;
}

function find(id: string | undefined): ThreadView | undefined {
  return listed.threads.find((thread) => thread.id === id) ?? (opened?.id === id ? opened : undefined);
}

/** Title of a conversation; empty until it is known. */
export function useThreadTitle(id: string | undefined): string {
  return useThread(id)?.title ?? "";
}

async function open(id: string): Promise<void> {
  // The view of the conversation shows why it can't be read.
  const thread = await client.thread(id).catch(() => undefined);
  if (!thread || id !== current) return;
  opened = thread;
  set({});
}

/** Pause after typing before a search starts. */
const typingMs = 150;
let typing: ReturnType<typeof setTimeout> | undefined;

export function searchThreads(search: string): void {
  set({ search });
  clearTimeout(typing);
  typing = setTimeout(() => void load(), typingMs);
}

/** Clears the search, so that a new conversation is visible in the list. */
export function endSearch(): void {
  if (listed.search !== "") searchThreads("");
}

export function showArchived(archived: boolean): void {
  set({ ...fresh, archived });
  void load();
}

/** Reloads the list here and in other tabs after a conversation was created, changed or deleted. */
export function threadsChanged(): void {
  channel.postMessage("changed");
  if (opened && !listed.threads.some(({ id }) => id === opened?.id)) void open(opened.id);
  void load();
}

/** Called when the user leaves a conversation. A list that was requested earlier may still call it unread, so it is discarded. */
export function threadLeft(): void {
  discardPendingLists();
  threadsChanged();
}

/** Creates a conversation that starts with this one's items, up to `item` or as shown. Its title says that it is a copy. */
export async function forkThread(id: string, item?: string): Promise<string> {
  const { title } = find(id) ?? (await client.thread(id));
  const others = listed.threads.map((thread) => thread.title);
  const copy = await threadClient.fork(id, {
    ...(item !== undefined && { item }),
    ...(title !== "" && { title: titleOfCopy(title, others) }),
  });
  threadsChanged();
  return copy.id;
}

export async function renameThread(id: string, title: string): Promise<void> {
  applyThread(await client.changeThread(id, { title }));
}

export async function archiveThread(id: string, archived: boolean): Promise<void> {
  applyThread(await client.changeThread(id, { archived }));
}

export async function removeThread(id: string): Promise<void> {
  await client.deleteThread(id);
  if (opened?.id === id) opened = undefined;
  set({ threads: listed.threads.filter((thread) => thread.id !== id) });
  discardPendingLists();
  threadsChanged();
}

/** Shows a changed conversation at once, without waiting for a new list. */
function applyThread(thread: ThreadView): void {
  if (opened?.id === thread.id) opened = thread;
  const isListed = listed.search !== "" || (thread.archivedAt !== null) === listed.archived;
  const others = listed.threads.filter(({ id }) => id !== thread.id);
  set({
    threads: isListed ? listed.threads.map((each) => (each.id === thread.id ? { ...each, ...thread } : each)) : others,
  });
  discardPendingLists();
  threadsChanged();
}

/** How many lists were requested, and the number of the first one that is not older than what is shown. */
let lists = 0;
let firstFresh = 1;

/** Ignores lists that are still being loaded: they don't contain what was just changed here. */
function discardPendingLists(): void {
  firstFresh = lists + 1;
}

/** Whether the list still fits what is shown; a later search may have been faster. */
const isStill = ({ search, archived }: ThreadListState) => search === listed.search && archived === listed.archived;

async function load(): Promise<void> {
  const asked = listed;
  const number = ++lists;
  const search = asked.search.trim();
  try {
    const threads = await threadClient.list(search === "" ? pageOf(asked) : { search, limit: pageLength });
    if (!isStill(asked) || number < firstFresh) return;
    firstFresh = number;
    const isWhole = search !== "" || threads.length < pageLength;
    const older = isWhole ? [] : behind(threads, listed.threads);
    set({
      threads: [...threads, ...older],
      hasMore: isWhole ? false : older.length === 0 || listed.hasMore,
      isLoaded: true,
      error: undefined,
    });
  } catch (error) {
    if (isStill(asked)) set({ error: reasonOf(error), isLoaded: true });
  }
}

export async function loadMore(): Promise<void> {
  const asked = listed;
  const before = asked.threads.at(-1)?.id;
  try {
    const threads = await threadClient.list({ ...pageOf(asked), ...(before !== undefined && { before }) });
    if (!isStill(asked)) return;
    const known = new Set(listed.threads.map(({ id }) => id));
    set({
      threads: [...listed.threads, ...threads.filter(({ id }) => !known.has(id))],
      hasMore: threads.length === pageLength,
    });
  } catch (error) {
    if (isStill(asked)) set({ error: reasonOf(error) });
  }
}

function pageOf({ archived }: ThreadListState): ThreadPage {
  return { limit: pageLength, sort: "used", ...(archived && { archived: "true" }) };
}

/** Of what was listed before, that which follows a new first page. */
function behind(page: readonly ListedThread[], before: readonly ListedThread[]): readonly ListedThread[] {
  const known = new Set(page.map(({ id }) => id));
  const last = page.at(-1)!.usedAt;
  return before.filter(({ id, usedAt }) => !known.has(id) && usedAt <= last);
}
