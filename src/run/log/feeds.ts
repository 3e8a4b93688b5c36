import type { Cursor, Retry } from "../../protocol/threads/events.ts";
import type { Item } from "../../protocol/threads/items.ts";
import type { Delta, LiveStep } from "./deltas.ts";
import type { FollowSink, FollowTarget } from "../runs.ts";

/**
 * A node's view of the threads that are followed here or worked on here. Changes of this node are sent at once; changes of
 * other nodes are read when they notify, and once a second in any case.
 */
export type Feeds = {
  /** Sends items committed by this process, in the order of their `seq`. */
  publish(threadId: string, items: readonly Item[]): void;
  /** Sends a piece of live text that a model of this process just wrote. */
  delta(delta: Delta): void;
  /** Announces a new attempt: followers withdraw the text of the failed one before it. */
  restart(of: LiveStep, retry: Retry): void;
  progress(
    threadId: string,
    event: { readonly run: string; readonly step: string; readonly index: number; readonly text: string },
  ): void;
  follow(target: FollowTarget, from: Cursor, sink: FollowSink): { close(): void };
  /**
   * Keeps a thread's live text from its first character, followed or not, while a run of this process works in it. `lastSeq`:
   * the last committed item. Returns a function that ends this.
   */
  hold(threadId: string, lastSeq: number): () => void;
  /** Reads threads that another node changed. */
  changed(threads: readonly string[] | "all"): void;
  /** Reads what another node added to live text that has begun, in threads known by their short ids. */
  grown(threads: readonly string[] | "all"): void;
  /** All items of a thread, if this process has seen it from its first. */
  whole(threadId: string): readonly Item[] | undefined;
  close(): void;
};
