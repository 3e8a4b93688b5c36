import type { Caller } from "../protocol/base/callers.ts";
import type { ThreadSettings } from "../protocol/threads/threads.ts";

/** What a person sets for one conversation. Each throws NotFound as `getThread`. */
export type ConversationSettings = {
  /** Empty: nothing is set. */
  settingsOf(caller: Caller, threadId: string): Promise<ThreadSettings>;
  /** In place of all that was set. Throws InvalidInput for a model that the caller can't use, Conflict for a room. */
  changeSettings(caller: Caller, threadId: string, settings: ThreadSettings): Promise<void>;
};
