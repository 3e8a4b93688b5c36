import type { Caller } from "../protocol/base/callers.ts";
import type { ThreadRecord } from "../protocol/threads/runs.ts";
import type { ThreadPlace } from "../protocol/threads/threads.ts";

export type NewThread = {
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  /** What a person begins it with, for a title that the server makes; `title` comes first. */
  readonly titleFrom?: string | undefined;
  readonly agent?: string | undefined;
  /** It begins in this folder, with its agent if none is named. Throws NotFound if it is not the caller's. */
  readonly folderId?: string | undefined;
  /** In no list, without a title, and gone once it is closed or a day after its last use. */
  readonly temporary?: boolean | undefined;
};

/** A conversation or room as one person keeps it. Of a room `archivedAt` is that person's, too. */
export type PlacedThread = ThreadRecord & ThreadPlace;

/** What a person makes of a conversation or room for themselves; what is absent stays. */
export type PlaceChange = {
  /** null: in none. */
  readonly folderId?: string | null | undefined;
  readonly pinned?: boolean | undefined;
  readonly archived?: boolean | undefined;
  /** All of it or, with false, all but the last; a number: up to this seq, and never back. */
  readonly read?: boolean | number | undefined;
};

export type PlacedPage = {
  /** The cursor or the id of the last one of the page before. */
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
  /** made, used: the newest first. pinned: only pinned ones, the last pinned first. */
  readonly sort?: "made" | "used" | "pinned" | undefined;
  readonly archived?: boolean | undefined;
  readonly kind?: "conversation" | "room" | "all" | undefined;
  /** In this folder; null: in none. */
  readonly folderId?: string | null | undefined;
  /** Without those that are pinned. */
  readonly unpinned?: boolean | undefined;
};

/** `next`: where the next page begins, whatever is used meanwhile; absent behind the last. */
export type PlacedThreads = { readonly threads: readonly PlacedThread[]; readonly next?: string };

/** Conversations and the rooms that a person is in, as that person keeps them. */
export type PlacedThreadsOf = {
  listPlaced(caller: Caller, page: PlacedPage): Promise<PlacedThreads>;
  /** Those of these that are the caller's, or rooms that the caller is in. */
  placed(caller: Caller, ids: readonly string[]): Promise<ReadonlyMap<string, PlacedThread>>;
  /**
   * Those that were changed: others are not the caller's. In one transaction. Throws NotFound for a folder that is not the caller's,
   * Conflict `thread_temporary` where one is to be kept that is in no list.
   */
  place(caller: Caller, ids: readonly string[], change: PlaceChange): Promise<ReadonlySet<string>>;
};
