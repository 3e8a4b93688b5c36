import type { Cursor, Retry } from "../../protocol/threads/events.ts";
import type { Item } from "../../protocol/threads/items.ts";
import type { Delta, LiveStep } from "./deltas.ts";
import type { FollowSink, FollowTarget } from "../runs.ts";

/**
 * A node's view of the threads that somebody follows or that it works on. What happens here is told at once;
 * what happens elsewhere is read when another node says so, and once a second in any case.
 */
export type Feeds = {
  /** Items committed by this process, in the order of their seq. */
  publish(threadId: string, items: readonly Item[]): void;
  /** Text that a model of this process just wrote. */
  delta(delta: Delta): void;
  /** The attempt before this one failed: what was told of it is withdrawn. */
  again(of: LiveStep, retry: Retry): void;
  progress(
    threadId: string,
    event: { readonly run: string; readonly step: string; readonly index: number; readonly text: string },
  ): void;
  follow(target: FollowTarget, from: Cursor, sink: FollowSink): { close(): void };
  /**
   * A run of this process works in the thread, so its live text must be kept from its first character, followed or not.
   * `lastSeq` is committed. Returns how to let go.
   */
  hold(threadId: string, lastSeq: number): () => void;
  /** Another node changed these threads. */
  changed(threads: readonly string[] | "all"): void;
  /** All items of a thread, if this process has seen it from its first. */
  whole(threadId: string): readonly Item[] | undefined;
  close(): void;
};
