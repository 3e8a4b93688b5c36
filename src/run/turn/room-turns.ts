import { LostRun, ModelError, NotFound } from "../../protocol/base/errors.ts";
import { resultItem } from "../log/call-items.ts";
import { endItem } from "../lifecycle/end-run.ts";
import { runNestedStep } from "../step/nested-step.ts";
import { takeTurn } from "./member-turns.ts";
import { itemColumns, toItem, type ItemRow } from "../log/rows.ts";
import type { RunEvent } from "../../protocol/threads/events.ts";
import type { RoomTurns } from "../contract/turn.ts";
import { foldIn, type RunWork } from "../step/work.ts";
import { commit, mergeSteeredMessages } from "../step/commit.ts";
import { waitForChildren } from "./wait.ts";

/** How many of the newest items are read at the start; older ones don't affect whose turn it is. */
const maxRead = 2000;

/** The events of what `since` reads; no other may count as news, or a room would look again and again and find nothing. */
const heard: readonly RunEvent["type"][] = [
  "message",
  "notice",
  "turn-start",
  "pass",
  "chapter",
  "branch",
  "strategy",
  "run-wait",
  "run-end",
  "run-resume",
];

/** Creates the turns of a room for the strategy that leads it. */
export function createRoomTurns(work: RunWork): RoomTurns {
  const { runtime, owner, signal } = work;
  return {
    async since(seq) {
      const rows = await runtime.database.query<ItemRow>(
        `select * from (select ${itemColumns} from items where thread_id = $1 and seq > $2
           and kind in ('message', 'call', 'state', 'notice') and (step is null or step not like '%/%') order by seq desc limit $3) x order by seq`,
        [owner.threadId, seq, maxRead],
      );
      return rows.map(toItem);
    },
    async handles() {
      const rows = await runtime.database.query<{ handle: string }>(
        "select handle from room_people where thread_id = $1",
        [owner.threadId],
      );
      return rows.map(({ handle }) => handle);
    },
    runId: owner.runId,
    async stop(why) {
      const end = { status: "cancelled" } as const;
      const results = foldIn(work).openCalls.map((call) =>
        resultItem(call, { content: why, isError: true }, "interrupted"),
      );
      await commit(work, [...results, endItem(end)], { end });
    },
    take: (turn) => takeTurn(work, turn),
    async judge(key, { model, messages }) {
      try {
        const request = { messages, model: runtime.models.get(model) };
        return (await runNestedStep(work, `judge/${key}`, request)).text;
      } catch (error) {
        // Nothing depends on it but whether somebody is asked too often.
        if (signal.aborted || !(error instanceof ModelError || error instanceof NotFound)) throw error;
        runtime.log.warn({ runId: owner.runId, model, error: error.message }, "a model could not judge");
        return "";
      }
    },
    async end() {
      try {
        const end = { status: "done" } as const;
        await commit(work, [endItem(end)], { end, expectedSteered: work.steered });
        return true;
      } catch (error) {
        // Somebody said something meanwhile.
        if (!(error instanceof LostRun) || !(await mergeSteeredMessages(work))) throw error;
        return false;
      }
    },
    async wait() {
      const waits = await waitForChildren(work, { unlessSteered: true });
      if (!waits) await mergeSteeredMessages(work);
      return waits;
    },
    news: (seq, stop) => newsAfter(work, seq, AbortSignal.any([stop, signal])),
  };
}

/** Resolves when something to be heard stands in the thread after this place, or when the signal fires. */
function newsAfter({ runtime, owner }: RunWork, seq: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = () => resolve();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const isNews = (event: RunEvent) =>
    "seq" in event &&
    event.seq > seq &&
    heard.includes(event.type) &&
    !("item" in event && event.item.step?.includes("/"));
  const follower = runtime.feeds.follow(
    { threadId: owner.threadId },
    { seq, live: [] },
    { events: (events) => events.some(isNews) && resolve(), error: reject },
  );
  return promise.finally(() => {
    signal.removeEventListener("abort", stop);
    follower.close();
  });
}
