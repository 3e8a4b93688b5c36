import type { Retry } from "../../protocol/threads/events.ts";
import type { Item, StateBody } from "../../protocol/threads/items.ts";
import type { Log } from "../../protocol/base/log.ts";
import type { Database } from "../../store/driver/database.ts";
import { type DeltaKind, liveStep, type LiveStep, shortId } from "./deltas.ts";
import {
  addUntold,
  createFollower,
  sendItems,
  sendLiveMessage,
  sendUntold,
  type Follower,
  type ItemEvents,
  type LiveMessage,
} from "./follower.ts";
import { createPace } from "./pace.ts";
import { itemPageSql, pageBytes, pageItems } from "./item-pages.ts";
import { joinPieces, readBegun, readMore, type StoredPiece } from "./read-live.ts";
import { keepRecent, type RecentItemsOptions, emptyKeptItems, type KeptItems } from "./recent-items.ts";
import { itemColumns, toItem, type ItemRow } from "./rows.ts";
import type { Feeds } from "./feeds.ts";

type ThreadFeed = {
  readonly threadId: string;
  kept: KeptItems;
  readonly live: Map<string, LiveMessage>;
  readonly followers: Set<Follower>;
  /** How many runs of this process work in the thread. */
  holds: number;
  usedAt: number;
  /** When another node last told of it, and when it was last read whole. */
  heardAt: number;
  readAt: number;
};

/** Bounds of what is kept in memory, per thread and for all threads; the rest is read from the store. */
export type FeedBounds = { readonly thread: RecentItemsOptions; readonly allBytes: number };

const megabyte = 1024 * 1024;
const defaultBounds: FeedBounds = { thread: { items: 1000, bytes: 4 * megabyte }, allBytes: 64 * megabyte };
const idleMs = 30_000;
/** How often followed threads are read without a notice, and those of which notices come. */
const sweepMs = 1000;
const toldSweepMs = 5000;
/** The smallest share of one read that each of many threads gets, if it has so much. */
const leastBytes = 64 * 1024;

export function createFeeds({
  database,
  log,
  isLocal,
  bounds = defaultBounds,
}: {
  database: Database;
  log: Log;
  isLocal: (runId: string) => boolean;
  bounds?: FeedBounds;
}): Feeds {
  const feeds = new Map<string, ThreadFeed>();
  const stale = new Set<ThreadFeed>();
  /** Of which only more text is to be read, of live messages that are known. */
  const growing = new Set<ThreadFeed>();
  let reading = false;
  let allBytes = 0;
  let followers = 0;
  const pace = createPace(
    (feed: ThreadFeed) => {
      for (const live of feed.live.values()) sendUntold(feed.followers, live);
    },
    () => followers,
  );

  const last = ({ kept }: ThreadFeed) => kept.base + kept.items.length;
  const open = (threadId: string, base: number): ThreadFeed => {
    const found = feeds.get(threadId);
    if (found) return found;
    const feed: ThreadFeed = {
      threadId,
      kept: emptyKeptItems(base),
      live: new Map(),
      followers: new Set(),
      holds: 0,
      usedAt: Date.now(),
      heardAt: 0,
      readAt: 0,
    };
    feeds.set(threadId, feed);
    return feed;
  };

  function push(feed: ThreadFeed, items: readonly Item[]): void {
    const fresh = items.filter((item) => item.seq > last(feed));
    if (fresh.length === 0) return;
    if (fresh[0]!.seq !== last(feed) + 1) {
      // Items of another node lie between.
      refresh(feed);
      return;
    }
    feed.usedAt = Date.now();
    for (const item of fresh) {
      if (item.kind === "message" && item.step !== null) feed.live.delete(`${item.runId}/${item.step}`);
      if (item.kind === "state" && isEndOfText(item.body)) {
        for (const [key, live] of feed.live) if (live.run === item.runId) feed.live.delete(key);
      }
    }
    const made: ItemEvents = new Map();
    for (const follower of feed.followers) if (follower.ready) sendItems(follower, fresh, made);
    allBytes -= feed.kept.bytes;
    keepRecent(feed.kept, fresh, bounds.thread);
    allBytes += feed.kept.bytes;
    if (allBytes > bounds.allBytes) makeRoom();
  }

  /** Drops the threads that were unused for longest, down to half of the bound. */
  function makeRoom(): void {
    for (const feed of [...feeds.values()].sort((one, other) => one.usedAt - other.usedAt)) {
      if (allBytes <= bounds.allBytes / 2) return;
      if (feed.followers.size + feed.holds === 0) remove(feed);
      else {
        allBytes -= feed.kept.bytes;
        feed.kept = emptyKeptItems(last(feed));
      }
    }
  }

  function remove(feed: ThreadFeed): void {
    if (feeds.delete(feed.threadId)) allBytes -= feed.kept.bytes;
  }

  function refresh(feed: ThreadFeed): void {
    stale.add(feed);
    beginReading();
  }

  function beginReading(): void {
    if (reading) return;
    reading = true;
    void readStale();
  }

  /** Reads all stale threads with one query for their items and one for their live text; of the others what more there is of it. */
  async function readStale(): Promise<void> {
    while (stale.size + growing.size > 0) {
      const batch = [...stale];
      const others = [...growing].filter((feed) => !stale.has(feed));
      stale.clear();
      growing.clear();
      try {
        if (batch.length > 0) await readItems(batch);
        if (database.kind !== "pglite") await readLive(batch, others);
      } catch (error) {
        log.warn({ error: String(error) }, "could not read a followed thread; trying again");
        for (const feed of [...batch, ...others]) if (feed.followers.size > 0) stale.add(feed);
        break;
      }
    }
    reading = false;
  }

  async function readItems(batch: readonly ThreadFeed[]): Promise<void> {
    const bytes = Math.max(leastBytes, Math.floor((4 * pageBytes) / batch.length));
    const rows = await database.query<ItemRow & { total: number }>(
      `select ${itemColumns.replaceAll(/(\w+)/g, "i.$1")}, i.total from unnest($1::uuid[], $2::bigint[]) as f (id, last)
       cross join lateral (${itemPageSql({ where: "thread_id = f.id and seq > f.last", limit: String(pageItems), bytes: "$3" })}) i
       order by i.thread_id, i.seq`,
      [batch.map((feed) => feed.threadId), batch.map(last), bytes],
    );
    const byThread = Map.groupBy(rows, (row) => row.thread_id);
    const readAt = Date.now();
    for (const feed of batch) {
      feed.readAt = readAt;
      if (feeds.get(feed.threadId) !== feed) continue;
      const page = byThread.get(feed.threadId) ?? [];
      push(feed, page.map(toItem));
      if (page.length === pageItems || (page.at(-1)?.total ?? 0) >= bytes) stale.add(feed);
    }
  }

  async function readLive(batch: readonly ThreadFeed[], others: readonly ThreadFeed[]): Promise<void> {
    const feedOf = new Map([...batch, ...others].flatMap((feed) => remoteLive(feed).map((live) => [live, feed])));
    for (const { live, kind, pieces } of await readMore(database.query, [...feedOf.keys()])) {
      const feed = feedOf.get(live)!;
      if (feed.live.get(live.key) === live) addPieces(feed, live, kind, pieces);
    }
    if (batch.length === 0) return;
    const threads = batch.map((feed) => feed.threadId);
    const known = batch.flatMap((feed) => [...feed.live.values()]);
    for (const row of await readBegun(database.query, threads, known)) {
      const feed = feeds.get(row.thread_id);
      if (!feed || isLocal(row.run_id)) continue;
      const { kind, pieces } = row;
      const of = liveStep({ runId: row.run_id, threadId: row.thread_id, step: row.step, attempt: row.attempt });
      const live = liveOf(feed, of, kind === "retry" ? (JSON.parse(pieces[0]![1]) as Retry) : undefined);
      if (live.attempt !== row.attempt) continue;
      if (kind !== "retry") addPieces(feed, live, kind, pieces);
      else for (const follower of feed.followers) if (follower.ready) sendLiveMessage(follower, live);
    }
  }

  function addPieces(feed: ThreadFeed, live: LiveMessage, kind: DeltaKind, pieces: readonly StoredPiece[]): void {
    const offset = live[kind].length;
    const { text, hasGap } = joinPieces(offset, pieces);
    if (hasGap && !live.gaps[kind]) growing.add(feed);
    live.gaps[kind] = hasGap;
    if (text === "") return;
    live[kind] += text;
    addUntold(live, { kind, offset, text });
    sendUntold(feed.followers, live);
  }

  const remoteLive = (feed: ThreadFeed) => [...feed.live.values()].filter((live) => !isLocal(live.run));

  /** The live message of a step. A newer attempt replaces it, an older one changes nothing. */
  function liveOf(feed: ThreadFeed, { runId: run, step, attempt, key }: LiveStep, retry?: Retry): LiveMessage {
    const found = feed.live.get(key);
    if (found && found.attempt >= attempt) return found;
    const live: LiveMessage = {
      run,
      step,
      attempt,
      key,
      text: "",
      reasoning: "",
      untold: {},
      gaps: {},
      ...(retry ? { retry } : {}),
    };
    feed.live.set(key, live);
    return live;
  }

  /** Sends a new follower everything up to the feed's start, from the store, then attaches it. */
  async function catchUp(feed: ThreadFeed, follower: Follower): Promise<void> {
    while (follower.seq < feed.kept.base && feed.followers.has(follower)) {
      const rows = await database.query<ItemRow>(
        itemPageSql({ where: "thread_id = $1 and seq > $2 and seq <= $3", limit: String(pageItems), bytes: "$4" }),
        [feed.threadId, follower.seq, feed.kept.base, pageBytes],
      );
      // These items are committed. A follower that can't get them is disconnected and reconnects, instead of seeing a gap.
      if (rows[0]?.seq !== follower.seq + 1)
        throw new Error(`Items ${follower.seq + 1} to ${feed.kept.base} of thread ${feed.threadId} can't be read.`);
      sendItems(follower, rows.map(toItem));
      await follower.sink.drained?.();
    }
    if (!feed.followers.has(follower)) return;
    attach(feed, follower);
  }

  function attach(feed: ThreadFeed, follower: Follower): void {
    sendItems(follower, feed.kept.items);
    for (const live of feed.live.values()) sendLiveMessage(follower, live);
    follower.ready = true;
  }

  const sweep = setInterval(() => {
    const now = Date.now();
    for (const feed of feeds.values()) {
      if (feed.followers.size > 0) {
        const local = database.kind === "pglite" || [...feed.live.values()].some((live) => isLocal(live.run));
        // While notices come, one that was lost is rare.
        const isTold = now - feed.heardAt < sweepMs && now - feed.readAt < toldSweepMs;
        if ((!local && !isTold) || stale.has(feed)) refresh(feed);
      } else if (feed.holds === 0 && now - feed.usedAt > idleMs) {
        remove(feed);
      }
    }
  }, sweepMs);

  return {
    publish: (threadId, items) => push(open(threadId, items[0]!.seq - 1), items),
    delta(delta) {
      const feed = feeds.get(delta.of.threadId);
      if (!feed) return;
      const live = liveOf(feed, delta.of);
      if (live.attempt !== delta.of.attempt) return;
      live[delta.kind] = delta.whole;
      if (feed.followers.size === 0) return;
      addUntold(live, delta);
      pace.soon(feed);
    },
    restart(of, retry) {
      const feed = feeds.get(of.threadId);
      if (!feed) return;
      const live = liveOf(feed, of, retry);
      for (const follower of feed.followers) if (follower.ready) sendLiveMessage(follower, live);
    },
    progress(threadId, event) {
      for (const follower of feeds.get(threadId)?.followers ?? []) {
        if (follower.run === undefined || follower.run === event.run)
          follower.sink.events([{ type: "progress", ...event }], follower.cursor);
      }
    },
    follow(target, from, sink) {
      const known = feeds.has(target.threadId);
      const feed = open(target.threadId, from.seq);
      const follower = createFollower(target, from, sink);
      feed.followers.add(follower);
      followers++;
      if (follower.seq >= feed.kept.base) attach(feed, follower);
      else void catchUp(feed, follower).catch((error: unknown) => sink.error(error));
      if (!known) refresh(feed);
      return {
        close() {
          if (feed.followers.delete(follower)) followers--;
          feed.usedAt = Date.now();
        },
      };
    },
    hold(threadId, lastSeq) {
      const feed = open(threadId, lastSeq);
      feed.holds++;
      return () => {
        feed.holds--;
        feed.usedAt = Date.now();
      };
    },
    changed(threads) {
      for (const feed of threads === "all" ? feeds.values() : threads.map((id) => feeds.get(id))) {
        if (!feed) continue;
        feed.heardAt = Date.now();
        if (feed.followers.size + feed.holds > 0) refresh(feed);
        else remove(feed);
      }
    },
    grown(threads) {
      if (threads.length === 0) return;
      const named = threads === "all" ? undefined : new Set(threads);
      for (const feed of feeds.values()) {
        if (feed.followers.size === 0 || named?.has(shortId(feed.threadId)) === false) continue;
        feed.heardAt = Date.now();
        if (remoteLive(feed).length > 0) growing.add(feed);
        else if (named) stale.add(feed);
      }
      if (stale.size + growing.size > 0) beginReading();
    },
    whole: (threadId) => {
      const kept = feeds.get(threadId)?.kept;
      return kept?.base === 0 ? kept.items : undefined;
    },
    close() {
      clearInterval(sweep);
      pace.close();
    },
  };
}

/** Whether live text of the run ends with this state: followers withdraw it, and a later attempt sends its own. */
function isEndOfText(body: StateBody): boolean {
  return body.type === "run-end" || (body.type === "run-wait" && body.reason === "provider");
}
