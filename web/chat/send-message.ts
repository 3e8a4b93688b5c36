import { useState } from "react";
import type { FolderView } from "../../src/protocol/threads/folders.ts";
import type { PendingView } from "../../src/protocol/threads/threads.ts";
import { newId } from "../../src/protocol/base/ids.ts";
import { navigateUnlessLeft, goTo, pathNow } from "../page/path.ts";
import { client, reasonOf } from "../page/server.ts";
import { checkWaiting } from "../threads/waiting-threads.ts";
import { threadClient } from "../threads/thread-client.ts";
import { forkThread, threadsChanged } from "../threads/thread-queries.ts";
import type { Attachments } from "./attachment-store.ts";
import { answerLost, attemptOf, hasArrived, mayHaveArrived } from "../conversation/outgoing-message.ts";
import { type AnswererChoice, keepChoice } from "../conversation/answerer-choice.ts";
import {
  beginConversation,
  type ConversationState,
  failedIn,
  forgetFailure,
  refreshOpenQuestions,
  showEnd,
  withdrawMessage,
} from "../conversation/conversation-store.ts";
import { restoreDraft } from "../conversation/drafts.ts";
import { sendMode } from "./send-mode.tsx";
import { type OutgoingMessage, useOutgoing } from "./outgoing.tsx";
import { useIsTemporary } from "./new-conversation-head.tsx";
import { lastItemOf, type TalkActions } from "./talk-actions.ts";
import type { Turn } from "../conversation/turns.ts";

type TalkingInput = {
  readonly threadId: string | undefined;
  readonly conversation: ConversationState;
  readonly choice: AnswererChoice;
  /** In which a new conversation is begun. */
  readonly folder: FolderView | undefined;
  readonly attachments: Attachments;
  /** Where what can't be sent is kept. */
  readonly place: string | undefined;
};

export type ComposerActions = TalkActions & {
  readonly send: (text: string) => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Says something to an agent, or to the chosen one. */
  readonly begin: (text: string, agent: string) => Promise<void>;
  readonly fail: (error: unknown) => void;
  /** Why the last message is in the composer again. */
  readonly unsent: string | undefined;
  /** What is not in the log yet. */
  readonly outgoing: OutgoingMessage | undefined;
  readonly takeBack: (run: string) => Promise<void>;
  /** Back into the composer. */
  readonly editQueued: (message: PendingView) => Promise<void>;
};

type SendTarget = { readonly instead?: string; readonly agent?: string };

/** What is done with a conversation. What was typed is never lost: what can't be sent comes back. */
export function useComposerActions({
  threadId,
  conversation,
  choice,
  folder,
  attachments,
  place,
}: TalkingInput): ComposerActions {
  const [unsent, setUnsent] = useState<{ readonly threadId: string | undefined; readonly why: string }>();
  const [outgoing, setOutgoing] = useOutgoing(conversation, threadId);
  const isTemporary = useIsTemporary();
  const { working, turns } = conversation;
  const fail = (error: unknown) => failedIn(threadId, error);
  const arrived = unsent !== undefined && hasArrived(turns);
  const optionsOf = choice.model === "" ? {} : { options: { model: choice.model } };

  async function send(text: string, { instead, agent = choice.agent }: SendTarget = {}): Promise<void> {
    forgetFailure();
    showEnd();
    setUnsent(undefined);
    const back = (why: string) => {
      restoreDraft({ threadId, place }, text);
      setUnsent({ threadId, why });
    };
    const taken = instead === undefined ? attachments.take() : [];
    if (typeof taken === "string") return back(taken);
    const files = instead === undefined ? taken.flatMap(({ id }) => id ?? []) : filesOf(turns, instead);
    const from = pathNow();
    if (arrived) answerLost(undefined);
    const attempt = attemptOf(JSON.stringify([threadId, agent, text, files, instead]), threadId);
    const { threadId: id, messageId } = attempt;
    const message = { messageId, text, files: taken.map(({ name }) => name) };
    if (instead === undefined) setOutgoing({ ...message, of: [threadId, id] });
    // Its answer may come when another one is on its way.
    const setMine = (next: OutgoingMessage | undefined) =>
      setOutgoing((now) => (now?.messageId === messageId ? next : now));
    try {
      if (threadId === undefined)
        await client.createThread({
          id,
          titleFrom: text.slice(0, 10_000),
          agent,
          ...(folder && { folderId: folder.id }),
          ...(isTemporary && { temporary: true }),
        });
      const mode = instead === undefined && working.length > 0 && sendMode.get() === "steer" ? "steer" : "queue";
      const sending = client.startRun(id, {
        agent,
        content: text,
        messageId,
        files,
        ...(instead === undefined ? { mode } : { instead }),
        ...optionsOf,
      });
      if (threadId === undefined) {
        // Nothing was said in it: it must not stand in the list.
        await sending.catch(async (error: unknown) => {
          if (!mayHaveArrived(error)) await client.deleteThread(id).catch(() => undefined);
          throw error;
        });
        keepChoice(id, { ...choice, agent });
        // Whoever went elsewhere meanwhile stays there, and finds it in the list.
        if (pathNow() === from) {
          beginConversation(id);
          goTo(`/chat/${id}`);
        }
      }
      const run = await sending;
      answerLost(undefined);
      setMine({ ...message, of: [id], run: run.id });
      if (run.pending) {
        await refreshOpenQuestions();
        setMine(undefined);
      }
      threadsChanged();
      void checkWaiting();
    } catch (error) {
      answerLost(mayHaveArrived(error) ? attempt : undefined);
      attachments.giveBack(taken);
      setMine(undefined);
      back(reasonOf(error));
    }
  }

  return {
    unsent: unsent?.threadId === threadId && !arrived ? unsent?.why : undefined,
    fail,
    outgoing,
    begin: (text, agent) => send(text, agent === "" ? {} : { agent }),
    takeBack: (run) => withdrawMessage(run).catch(fail),
    async editQueued({ id: run, text, files }) {
      try {
        await withdrawMessage(run);
        attachments.giveBack(files.map(({ id, name, mediaType }) => ({ key: id, id, name, type: mediaType, part: 1 })));
        restoreDraft({ threadId, place }, text);
      } catch (error) {
        fail(error);
      }
    },
    async fork(turn) {
      const item = lastItemOf(turn);
      if (threadId === undefined || item === undefined) return;
      const leadOn = navigateUnlessLeft();
      try {
        const id = await forkThread(threadId, item);
        keepChoice(id, { agent: choice.agent, model: choice.model });
        leadOn(`/chat/${id}`);
      } catch (error) {
        fail(error);
      }
    },
    async saveEdit(text, instead) {
      if (threadId === undefined) return;
      await threadClient.editMessage(threadId, { message: { id: newId(), content: text }, instead });
    },
    send: (text) => send(text),
    edit: (text, instead) => send(text, { instead }),
    async answerAgain(again, model) {
      if (threadId === undefined) return;
      forgetFailure();
      await client
        .answerAgain(threadId, {
          agent: choice.agent,
          again,
          ...(model === undefined ? optionsOf : { options: { model } }),
        })
        .catch(fail);
    },
    async stop() {
      await Promise.all(working.map(({ run }) => client.cancel(run))).catch(fail);
    },
    show(turn) {
      const shown = turns.find(({ id }) => id === turn);
      const leaf = shown && lastItemOf(shown);
      if (threadId !== undefined && leaf !== undefined) client.chooseBranch(threadId, leaf).catch(fail);
    },
  };
}

/** What came with a message goes with its other words too. */
function filesOf(turns: readonly Turn[], turn: string): readonly string[] {
  const blocks = turns.find(({ id }) => id === turn)?.blocks ?? [];
  return blocks.flatMap((block) =>
    block.kind === "message" ? (block.item?.body.files ?? []).map(({ id }) => id) : [],
  );
}
