import { t } from "@lingui/core/macro";
import { client } from "../page/server.ts";
import { DetailPanel, usePanel } from "../parts/detail-panel.tsx";
import { FilesPanel } from "../parts/files-panel.tsx";
import { filesOfThread } from "../turn/turn-place.ts";
import { ConversationSettings } from "./conversation-settings.tsx";

type ConversationPanelProps = {
  readonly threadId: string;
  /** Who answers here, so that their tools can be told. */
  readonly agent: string;
  /** How many work in it: files are looked up again when that changes. */
  readonly working: number;
};

/** Beside a conversation: its files, or how it is answered. */
export function ConversationPanel({ threadId, agent, working }: ConversationPanelProps) {
  const { shown } = usePanel();
  if (shown === "files")
    return (
      <DetailPanel name={t`Files`}>
        <FilesPanel files={client.files.at(threadId)} root={filesOfThread(threadId)} round={String(working)} />
      </DetailPanel>
    );
  if (shown === "settings")
    return (
      <DetailPanel name={t`Conversation settings`}>
        <ConversationSettings key={threadId} threadId={threadId} agent={agent} />
      </DetailPanel>
    );
  return null;
}
