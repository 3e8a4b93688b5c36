import assert from "node:assert/strict";
import { test } from "node:test";
import { eachRunDatabase, until } from "../../../test/run-suite.ts";
import type { TestRuns } from "../../../test/runs.ts";
import type { RunEvent } from "../../protocol/threads/events.ts";
import type { Item } from "../../protocol/threads/items.ts";
import { silentLog } from "../../protocol/base/log.ts";
import { createFeeds, type FeedBounds } from "./follow.ts";

const kilobyte = 1024;

eachRunDatabase((suite) => {
  /** A thread of three runs, whose messages are all of this size. */
  async function threadOf(service: TestRuns, size: number): Promise<{ threadId: string; items: readonly Item[] }> {
    // a compressed body looks small to the database
    const content = "x".repeat(size);
    const { threadId } = (await service.ask(content)).started;
    for (let more = 0; more < 2; more++) await service.ask(content, { threadId });
    const items: Item[] = [];
    for (;;) {
      const after = items.at(-1)?.seq ?? 0;
      const page = await service.threads.listItems(service.caller, threadId, { after });
      if (page.length === 0) return { threadId, items };
      items.push(...page);
    }
  }

  const feedsWith = (bounds: FeedBounds) =>
    createFeeds({ database: suite.database(), log: silentLog, isLocal: () => false, bounds });

  async function seqsFrom(feeds: ReturnType<typeof feedsWith>, threadId: string, last: number): Promise<number[]> {
    const seen: RunEvent[] = [];
    const follower = feeds.follow(
      { threadId },
      { seq: 0, live: [] },
      {
        events: (events) => seen.push(...events),
        error: assert.ifError,
      },
    );
    const seqs = () => seen.flatMap((event) => ("seq" in event ? [event.seq] : []));
    await until(() => seqs().at(-1) === last, "the last item");
    follower.close();
    return seqs();
  }

  test("of a thread with large items few are kept in memory, and a follower is told all", async () => {
    const service = await suite.start({ script: () => "y".repeat(50 * kilobyte) });
    const { threadId, items } = await threadOf(service, 50 * kilobyte);
    const everything = items.map(({ seq }) => seq);
    for (const bytes of [10, 120, 10_000].map((size) => size * kilobyte)) {
      const feeds = feedsWith({ thread: { items: 1000, bytes }, allBytes: 10_000 * kilobyte });
      for (const item of items) feeds.publish(threadId, [item]);
      assert.equal(feeds.whole(threadId)?.length, bytes > 300 * kilobyte ? items.length : undefined);
      assert.deepEqual(await seqsFrom(feeds, threadId, items.length), everything);
      feeds.close();
    }
  });

  test("what is past is told page by page, as fast as the reader takes it", async () => {
    const service = await suite.start({ script: () => "fine" });
    const { threadId, items } = await threadOf(service, 2_200 * kilobyte);
    const feeds = feedsWith({ thread: { items: 1000, bytes: 0 }, allBytes: 10_000 * kilobyte });
    feeds.publish(threadId, items);
    const taken = Promise.withResolvers<void>();
    let asked = 0;
    let told = 0;
    const follower = feeds.follow(
      { threadId },
      { seq: 0, live: [] },
      {
        events: (_, cursor) => (told = cursor().seq),
        drained: () => (asked++ === 0 ? taken.promise : undefined),
        // What is published below stands in no table.
        error: (error) => assert.match(String(error), /can't be read/),
      },
    );
    await until(() => asked === 1, "the first page");
    assert(told > 0 && told < items.length, `${told} of ${items.length} are told`);
    const first = told;
    // Whatever else happens in the thread waits, too.
    feeds.publish(threadId, [{ ...items.at(-1)!, seq: items.length + 1 }]);
    assert.equal(told, first);
    taken.resolve();
    await until(() => told >= items.length, "the rest");
    follower.close();
    feeds.close();
  });

  test("all threads together are bounded: what was used last is kept", async () => {
    const service = await suite.start({ script: () => "fine" });
    const threads = [];
    for (let count = 0; count < 4; count++) threads.push(await threadOf(service, 50 * kilobyte));
    const feeds = feedsWith({ thread: { items: 1000, bytes: 1000 * kilobyte }, allBytes: 400 * kilobyte });
    const letGo = feeds.hold(threads[0]!.threadId, 0);
    for (const { threadId, items } of threads) feeds.publish(threadId, items);
    assert.equal(feeds.whole(threads[0]!.threadId), undefined);
    assert.equal(feeds.whole(threads[3]!.threadId)?.length, threads[3]!.items.length);
    // One that is worked on is still there, and goes on.
    const { threadId, items } = threads[0]!;
    assert.deepEqual(
      await seqsFrom(feeds, threadId, items.length),
      items.map(({ seq }) => seq),
    );
    letGo();
    feeds.close();
  });

  test("a page of items ends at some megabytes, and the next one goes on behind it", async () => {
    const service = await suite.start({ script: () => "fine" });
    const { threadId, items } = await threadOf(service, 2_200 * kilobyte);
    assert.deepEqual(
      items.map(({ seq }) => seq),
      items.map((_, index) => index + 1),
    );
    const list = (page: object) => service.threads.listItems(service.caller, threadId, page);
    const sizes = (page: readonly Item[]) => page.filter(({ kind, runId }) => kind === "message" && runId).length;
    for (const order of ["asc", "desc"] as const) {
      const page = await list({ limit: 500, order });
      assert(page.length > 1 && page.length < items.length, `${order}: ${page.length} of ${items.length} items`);
      assert(sizes(page) > 1);
    }
    const backwards = await list({ order: "desc" });
    assert.deepEqual(
      [...backwards, ...(await list({ order: "desc", before: backwards.at(-1)!.seq }))].map(({ seq }) => seq),
      items.map(({ seq }) => seq).reverse(),
    );
  });
});
