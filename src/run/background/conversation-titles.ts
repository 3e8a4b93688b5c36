import { messageOf } from "../../protocol/base/errors.ts";
import type { TitleMode } from "../../protocol/threads/threads.ts";
import type { Runtime } from "../contract/runtime.ts";
import { askForTitle, isFree, type TitleAccount } from "./ask-for-title.ts";
import { beginningOf } from "./conversation-beginning.ts";
import { claimTitle, dueTitles, firstAnswer, giveBackTitle, leaveTitle, writeTitle } from "./title-rows.ts";

export type TitleOptions = TitleAccount & {
  readonly by: TitleMode;
  /** Asked instead of the conversation's own model. */
  readonly model?: string | undefined;
};

export type ConversationTitles = {
  /** A conversation was made here that wants a title. */
  expect(threadId: string): void;
  /** A run ended here. */
  runEnded(threadId: string): void;
  /** Looks for conversations that nobody looks at: their node died, or their model was busy, or another node answered. */
  sweep(): Promise<void>;
  /** Stops a request that is under way; it is made again elsewhere. */
  close(): Promise<void>;
};

const maxExpected = 10_000;
/** At a run's end; the sweep looks at the others. */
const maxLookedAgain = 3;

/**
 * Asks models for titles: one at a time on each node, once its conversation has an answer and rests, and on a server that may have
 * one slot only while no run needs it. What it made is written only if nobody has named the conversation meanwhile.
 */
export function createTitles(
  runtime: Runtime,
  { by, model: chosen, onTitled, ...account }: TitleOptions & { readonly onTitled: (threadId: string) => void },
): ConversationTitles {
  const { query } = runtime.database;
  const { models, log } = runtime;
  const stopping = new AbortController();
  const expected = new Set<string>();
  const waiting = new Set<string>();
  /** Their model's server was busy. */
  const deferred = new Set<string>();
  let working: Promise<void> | undefined;

  function look(threadId: string): void {
    if (stopping.signal.aborted) return;
    waiting.add(threadId);
    working ??= work().finally(() => (working = undefined));
  }

  async function work(): Promise<void> {
    for (const threadId of waiting) {
      waiting.delete(threadId);
      if (stopping.signal.aborted) return;
      await entitle(threadId).catch((error: unknown) => {
        if (!stopping.signal.aborted) log.warn({ threadId, error: messageOf(error) }, "a title could not be made");
      });
    }
  }

  async function entitle(threadId: string): Promise<void> {
    const begun = await firstAnswer(query, threadId);
    if (!begun) return;
    expected.delete(threadId);
    const name = chosen ?? begun.model;
    const model = models.has(name) ? models.get(name) : undefined;
    const conversation = beginningOf(begun.messages);
    if (!model || model.demo || conversation === "") return leaveTitle(query, threadId);
    if (!(await isFree(runtime, model))) return void deferred.add(threadId);
    const claim = await claimTitle(query, threadId);
    if (!claim) return;
    const { userId } = claim;
    const title = await askForTitle(runtime, { ...account, model, userId, conversation, stopping: stopping.signal });
    if (title === "later") {
      deferred.add(threadId);
      return giveBackTitle(query, threadId, claim);
    }
    if (await writeTitle(query, threadId, { ...claim, title })) onTitled(threadId);
  }

  return {
    expect(threadId) {
      if (by !== "model") return;
      if (expected.size >= maxExpected) expected.clear();
      expected.add(threadId);
    },
    runEnded(threadId) {
      if (expected.has(threadId)) look(threadId);
      for (const busy of [...deferred].slice(0, maxLookedAgain)) {
        deferred.delete(busy);
        look(busy);
      }
    },
    async sweep() {
      if (by !== "model") return;
      for (const { id, over } of await dueTitles(query)) await (over ? leaveTitle(query, id) : look(id));
    },
    async close() {
      stopping.abort();
      await working;
    },
  };
}
