import type { Caller } from "../protocol/base/callers.ts";
import type { Item, NewItem } from "../protocol/threads/items.ts";

/** Pairs of texts that a program writes down about a thread; nobody here reads them. */
export type ThreadMetadata = Readonly<Record<string, string>>;

/** What programs do with a conversation that they keep here, without asking anybody. Each throws NotFound as `getThread`. */
export type KeptConversations = {
  metadataOf(caller: Caller, threadId: string): Promise<ThreadMetadata>;
  /** In place of all that was there. */
  setMetadata(caller: Caller, threadId: string, metadata: ThreadMetadata): Promise<void>;
  /**
   * Adds what was said elsewhere to the branch that is shown: messages, and calls paired with results. Throws Conflict
   * `thread_busy` while a run works in the thread, and for a room.
   */
  addItems(caller: Caller, threadId: string, items: readonly NewItem[]): Promise<readonly Item[]>;
  /**
   * The conversation goes on before this item of the shown branch, which ends in `leaf`; what came from there on stays in the log,
   * beside the branch that counts. Throws Conflict as `addItems`, and if the branch ends elsewhere by now.
   */
  takeBack(
    caller: Caller,
    threadId: string,
    cut: { readonly itemId: string; readonly leaf: string | null },
  ): Promise<void>;
  /**
   * Nobody is told of this run any more. Its items stay for what was said after them; a hidden thread goes with the last of its runs.
   * Throws NotFound.
   */
  forgetRun(caller: Caller, runId: string): Promise<void>;
  isForgotten(caller: Caller, runId: string): Promise<boolean>;
};
