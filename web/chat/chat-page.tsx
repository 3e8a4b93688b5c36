import { useEffect } from "react";
import { t } from "@lingui/core/macro";
import { useQuery } from "../page/path.ts";
import { refreshOpenQuestions, openConversation, useConversation } from "../conversation/conversation-store.ts";
import { AttachButton, AttachmentTiles, DropZone } from "./attachments.tsx";
import { useAttachments } from "./attachment-store.ts";
import { AgentPicker } from "./agent-picker.tsx";
import { useChoice } from "../conversation/answerer-choice.ts";
import { Composer } from "./composer.tsx";
import { ConversationHead } from "./conversation-head.tsx";
import { useDraft, useDraftPlace } from "../conversation/drafts.ts";
import { dismissNews, refreshModels, useAnswerers } from "../conversation/models-store.ts";
import { Notes, Status } from "./notes.tsx";
import { OutgoingTurn } from "./outgoing.tsx";
import { textOfTurn } from "../conversation/branch.ts";
import { useComposerText } from "../conversation/composer-text.ts";
import { TalkContext, useStableTalk } from "./talk-actions.ts";
import { useComposerActions } from "./send-message.ts";
import { ConversationPanel } from "./conversation-panel.tsx";
import { NewConversationHead } from "./new-conversation-head.tsx";
import { ThreadView } from "./thread.tsx";
import { checkWaiting } from "../threads/waiting-threads.ts";
import { threadsChanged, useFolders, useThread } from "../threads/thread-queries.ts";
import { endOfTurn } from "../conversation/turn-end.ts";
import { Welcome } from "./welcome.tsx";
import { copyText } from "../browser/copy-text.ts";
import { announce } from "../parts/announce.tsx";
import { useShortcut } from "../browser/shortcuts.ts";

import type { Turn } from "../conversation/turns.ts";

/** While somebody works, what waits for its turn is looked up as often. */
const queuedMs = 3000;

/** One conversation, or the beginning of one. */
export function ChatPage({ threadId }: { readonly threadId: string | undefined }) {
  const conversation = useConversation();
  const { turns, head, working, open, isLoading, isGone } = conversation;
  const answerers = useAnswerers();
  const thread = useThread(threadId);
  const query = useQuery();
  const folder = useFolders().find(({ id }) => id === query.get("folder"));
  const choice = useChoice({
    threadId,
    agents: answerers.agents,
    begunFor: threadId === undefined ? folder?.settings.agent : thread?.agent,
  });
  const place = useDraftPlace(threadId);
  const attachments = useAttachments(place);
  const talk = useComposerActions({ threadId, conversation, choice, folder, attachments, place });
  const text = useComposerText();
  useDraft(text, { threadId, place });
  const send = () => {
    const said = text.get();
    if (said.trim() === "") return;
    text.set("");
    void talk.send(said);
  };

  const item = query.get("item") ?? undefined;
  useEffect(() => void openConversation(threadId, item), [threadId, item]);

  const isBusy = working.length > 0;
  const steady = useStableTalk(talk, { isBusy, isRunning: isBusy && open.length === 0 });
  const { stop, answerAgain } = talk;
  useChatShortcuts({ turns, head, isWorking: isBusy, stop, answerAgain });
  const hasFailed = endOfTurn(turns.at(-1)?.blocks ?? []) === "failed";
  useEffect(() => {
    if (hasFailed) void refreshModels();
  }, [hasFailed]);
  // What came or went was told here; elsewhere it would only be in the way.
  useEffect(() => dismissNews, [threadId]);
  // Of what another tab queues no event tells.
  useEffect(() => {
    if (!isBusy) return undefined;
    const timer = setInterval(() => void refreshOpenQuestions(), queuedMs);
    return () => clearInterval(timer);
  }, [isBusy]);
  // The list shows at once what happens here.
  useEffect(() => void checkWaiting(), [isBusy, open.length]);
  // At its end it is the one used last, and was seen.
  useEffect(() => (isBusy ? threadsChanged : undefined), [isBusy]);

  return (
    <TalkContext value={steady}>
      {threadId !== undefined ? (
        <ConversationHead key={threadId} threadId={threadId} onFail={talk.fail} />
      ) : (
        <NewConversationHead />
      )}
      <div className="beside">
        <DropZone onDrop={attachments.add}>
          <ThreadView
            turns={turns}
            head={head}
            newest={conversation.newest}
            isBusy={isBusy || isLoading || talk.outgoing !== undefined}
            welcome={
              isLoading ? (
                <p className="text-muted">{t`Loading…`}</p>
              ) : (
                !conversation.isBroken &&
                !isBusy &&
                !talk.outgoing && (
                  <Welcome
                    answerers={answerers}
                    folder={folder}
                    missingAgent={choice.missing}
                    hasModel={!answerers.isLoaded || answerers.models.some(({ demo }) => !demo)}
                    onChoose={(text, agent) => void talk.begin(text, agent)}
                  />
                )
              )
            }
            notes={
              <>
                {talk.outgoing && <OutgoingTurn {...talk.outgoing} />}
                <Notes conversation={conversation} agent={choice.agent} talk={talk} text={text} onSend={send} />
              </>
            }
            status={<Status conversation={conversation} agent={choice.agent} talk={talk} news={answerers.news} />}
            composer={
              isGone && turns.length === 0 ? null : (
                <Composer
                  text={text}
                  onSend={send}
                  agent={choice.agent}
                  isBusy={isBusy}
                  onStop={() => void stop()}
                  tiles={<AttachmentTiles {...attachments} />}
                  tools={
                    <>
                      <AttachButton onChoose={attachments.add} />
                      <AgentPicker {...choice} answerers={answerers} onChoose={choice.choose} />
                    </>
                  }
                />
              )
            }
          />
        </DropZone>
        {threadId !== undefined && (
          <ConversationPanel threadId={threadId} agent={choice.agent} working={working.length} />
        )}
      </div>
    </TalkContext>
  );
}

type ChatState = {
  readonly turns: readonly Turn[];
  readonly head: string | null;
  readonly isWorking: boolean;
  readonly stop: () => Promise<void>;
  readonly answerAgain: (message: string) => Promise<void>;
};

/** What keys do in a conversation. */
function useChatShortcuts({ turns, head, isWorking, stop, answerAgain }: ChatState): void {
  const reply = lastReply(turns, head);
  useShortcut("stop", () => void stop(), isWorking);
  useShortcut(
    "copy-last-reply",
    () => {
      if (reply)
        void copyText(textOfTurn(reply)).then((isThere) =>
          announce(isThere ? t`Copied` : t`Couldn't copy: blocked by the browser.`),
        );
    },
    reply !== undefined,
  );
  useShortcut(
    "answer-again",
    () => {
      if (reply?.parent != null) void answerAgain(reply.parent);
    },
    reply?.parent != null && !isWorking,
  );
}

/** Of the branch that is shown. */
function lastReply(turns: readonly Turn[], head: string | null): Turn | undefined {
  const byId = new Map(turns.map((turn) => [turn.id, turn]));
  let turn = head === null ? undefined : byId.get(head);
  while (turn && turn.role !== "assistant") turn = turn.parent === null ? undefined : byId.get(turn.parent);
  return turn;
}
