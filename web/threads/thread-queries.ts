import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type {
  DetailedThread,
  ListedThread,
  PlacedThreadView,
  ThreadListPage,
} from "../../src/protocol/threads/threads.ts";
import type { PlaceInput } from "../../src/client/lists.ts";
import type { ThreadPage } from "../../src/client/threads.ts";
import { queries } from "../page/queries.ts";
import { client } from "../page/server.ts";
import { onChange } from "../stream/changes.ts";
import { lists } from "./list-client.ts";
import { forgetSeen } from "./read-marks.ts";
import { threadClient } from "./thread-client.ts";
import { titleOfCopy } from "./title-of-copy.ts";

/** Of a list: the pages that were read of it, and whether there are more. */
export type ReadThreads = {
  readonly threads: readonly ListedThread[];
  /** Undefined: there are no more. */
  readonly readMore: (() => Promise<unknown>) | undefined;
  readonly isLoaded: boolean;
  readonly error: Error | null;
};

/** Which conversations and rooms: those last used, those in a folder, those that were put away, or what a search finds. */
export type ThreadsWanted =
  | { readonly of: "recent" | "pinned" | "archived" }
  | { readonly of: "folder"; readonly folder: string }
  | { readonly of: "search"; readonly search: string };

const pageLength = 100;
const allLists = ["thread-lists"];
/** Deleted here: what still shows one must not ask for it again. */
const removed = new Set<unknown>();

export function useThreads(wanted: ThreadsWanted): ReadThreads {
  const { data, error, isPending, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: [...allLists, wanted],
    queryFn: ({ pageParam, signal }) =>
      lists.page({ ...pageOf(wanted), ...(pageParam && { before: pageParam }) }, signal),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next,
    staleTime: 0,
    // While somebody types, what was found last stays until the next is.
    ...(wanted.of === "search" && { placeholderData: keepPreviousData }),
  });
  return {
    threads: data?.pages.flatMap((page) => page.data) ?? [],
    readMore: hasNextPage ? fetchNextPage : undefined,
    isLoaded: !isPending,
    error,
  };
}

function pageOf(wanted: ThreadsWanted): ThreadPage {
  const page = { kind: "all", limit: pageLength } as const;
  switch (wanted.of) {
    case "recent":
      return { ...page, sort: "used", pinned: "false", folder: "none" };
    case "pinned":
      return { ...page, sort: "pinned" };
    case "archived":
      return { ...page, sort: "used", archived: "true" };
    case "folder":
      return { ...page, sort: "used", folder: wanted.folder };
    case "search":
      return { ...page, search: wanted.search };
  }
}

export function useFolders() {
  return useQuery({ queryKey: ["folders"], queryFn: ({ signal }) => lists.folders(signal) }).data ?? [];
}

/** What a list tells of a conversation, and what only it itself does, once that is there. */
export type KnownThread = PlacedThreadView & Partial<DetailedThread>;

/** One conversation, whether it is in a list or not; undefined as long as it is not known. */
export function useThread(id: string | undefined): KnownThread | undefined {
  const { data } = useQuery<KnownThread>({
    queryKey: ["thread", id],
    queryFn: ({ signal }) => client.thread(id ?? "", signal),
    enabled: id !== undefined && !removed.has(id),
    placeholderData: () => listedThreads().find((each) => each.id === id),
  });
  return data;
}

/** Title of a conversation; empty until it is known. */
export function useThreadTitle(id: string | undefined): string {
  return useThread(id)?.title ?? "";
}

function listedThreads(): readonly ListedThread[] {
  return queries
    .getQueriesData<InfiniteData<ThreadListPage>>({ queryKey: allLists })
    .flatMap(([, read]) => read?.pages.flatMap(({ data }) => data) ?? []);
}

/** Lists are read again once something in them has changed, here or elsewhere. */
export function useListChanges(): void {
  useEffect(() => {
    const readAgain = () => void refresh();
    const stopHearing = onChange("lists", readAgain);
    addEventListener("focus", readAgain);
    return () => {
      stopHearing();
      removeEventListener("focus", readAgain);
    };
  }, []);
}

function refresh(): Promise<unknown> {
  return Promise.all([
    queries.invalidateQueries({ queryKey: allLists }),
    queries.invalidateQueries({ queryKey: ["folders"] }),
    // One that is not there does not come back.
    queries.invalidateQueries({
      queryKey: ["thread"],
      predicate: ({ state, queryKey }) => state.data !== undefined && !removed.has(queryKey[1]),
    }),
  ]);
}

/** Called after a conversation was made, changed or deleted here; other tabs are told by the server. */
export function threadsChanged(): void {
  void refresh();
}

/** Shows a change at once; what was asked for before it may know nothing of it, and is not waited for. */
async function change(
  ids: readonly string[],
  shown: Partial<ListedThread>,
  send: () => Promise<unknown>,
): Promise<void> {
  await queries.cancelQueries({ queryKey: allLists });
  queries.setQueriesData<InfiniteData<ThreadListPage>>(
    { queryKey: allLists },
    (read) =>
      read && {
        ...read,
        pages: read.pages.map((page) => ({
          ...page,
          data: page.data.map((thread) => (ids.includes(thread.id) ? { ...thread, ...shown } : thread)),
        })),
      },
  );
  try {
    await send();
  } finally {
    threadsChanged();
  }
}

/** What is gone from where it was shown: in all lists, until they are read again. */
function takeOut(ids: readonly string[]): void {
  queries.setQueriesData<InfiniteData<ThreadListPage>>(
    { queryKey: allLists },
    (read) =>
      read && {
        ...read,
        pages: read.pages.map((page) => ({ ...page, data: page.data.filter(({ id }) => !ids.includes(id)) })),
      },
  );
}

export function renameThread(id: string, title: string): Promise<void> {
  return change([id], { title }, () => client.changeThread(id, { title }));
}

/** Files, pins, puts away or marks one conversation or room, for oneself. */
export function placeThread(id: string, place: PlaceInput): Promise<void> {
  if (place.read === false) forgetSeen(id);
  return change([id], seenOf(place), async () => {
    await client.changeThread(id, place);
    if (place.archived !== undefined) takeOut([id]);
  });
}

/** The same with many. Says why some were not. */
export async function placeThreads(
  ids: readonly string[],
  place: PlaceInput | { readonly delete: true },
): Promise<void> {
  let refused: string | undefined;
  await change(ids, "delete" in place ? {} : seenOf(place), async () => {
    const answers = await lists.changeAll(ids, place);
    refused = answers.find(({ error }) => error)?.error?.message;
    if ("delete" in place || place.archived !== undefined)
      takeOut(answers.flatMap(({ id, done }) => (done ? [id] : [])));
  });
  if (refused !== undefined) throw new Error(refused);
}

function seenOf({ folderId, pinned, read }: PlaceInput): Partial<ListedThread> {
  return {
    ...(folderId !== undefined && { folderId }),
    ...(pinned !== undefined && { pinnedAt: pinned ? new Date().toISOString() : null }),
    ...(read !== undefined && { unread: read === false }),
  };
}

export async function removeThread(id: string): Promise<void> {
  await client.deleteThread(id);
  removed.add(id);
  forgetSeen(id);
  await queries.cancelQueries({ queryKey: allLists });
  takeOut([id]);
  threadsChanged();
}

/** Creates a conversation that starts with this one's items, up to `item` or as shown. Its title says that it is a copy. */
export async function forkThread(id: string, item?: string): Promise<string> {
  const known = listedThreads();
  const { title } = known.find((each) => each.id === id) ?? (await client.thread(id));
  const copy = await threadClient.fork(id, {
    ...(item !== undefined && { item }),
    ...(title !== "" && {
      title: titleOfCopy(
        title,
        known.map((thread) => thread.title),
      ),
    }),
  });
  threadsChanged();
  return copy.id;
}
