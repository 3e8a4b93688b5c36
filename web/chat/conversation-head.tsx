import {
  Archive,
  ArchiveRestore,
  Braces,
  Copy,
  Ellipsis,
  FileDown,
  Pencil,
  Share2,
  Split,
  Trash2,
  FolderOpen,
  SlidersHorizontal,
} from "lucide-react";
import { useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import type { ThreadView } from "../../src/protocol/threads/threads.ts";
import { copyText } from "../browser/copy-text.ts";
import { announce } from "../parts/announce.tsx";
import { usePanel } from "../parts/detail-panel.tsx";
import { Menu, type MenuEntry } from "../parts/menus/menu.tsx";
import { confirmAction } from "../parts/confirm.tsx";
import { navigateUnlessLeft, goTo, pathNow } from "../page/path.ts";
import { ask } from "../../src/client/request.ts";
import { base, client, server } from "../page/server.ts";
import { archiveWithUndo } from "../threads/archive.ts";
import { TitleField } from "../threads/title-field.tsx";
import { forkThread, placeThread, removeThread, renameThread, useThread } from "../threads/thread-queries.ts";
import { ViewHead } from "../page/view-head.tsx";
import { ShareDialog } from "./share-dialog.tsx";

type HeadProps = { readonly threadId: string; readonly onFail: (error: unknown) => void };

/** The title of a conversation, changed in place, and what can be done with the whole of it. */
export function ConversationHead({ threadId, onFail }: HeadProps) {
  const thread = useThread(threadId);
  const [isNaming, setNaming] = useState(false);
  const [isSharing, setSharing] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  if (!thread) return null;
  const isTemporary = thread.temporary === true;
  const title = thread.title === "" ? t`(no title)` : thread.title;
  const tell = (work: Promise<unknown>) => void work.catch(onFail);

  async function fork(): Promise<void> {
    const leadOn = navigateUnlessLeft();
    leadOn(`/chat/${await forkThread(threadId)}`);
  }

  return (
    <ViewHead>
      {isNaming ? (
        <TitleField
          title={thread.title}
          onDone={(changed) => {
            setNaming(false);
            requestAnimationFrame(() => document.activeElement === document.body && heading.current?.focus());
            if (changed !== undefined) tell(renameThread(threadId, changed));
          }}
        />
      ) : (
        <h1
          ref={heading}
          tabIndex={-1}
          dir="auto"
          className="min-w-0 truncate text-sm font-semibold"
          onDoubleClick={() => setNaming(true)}
          title={title}
        >
          {title}
        </h1>
      )}
      {thread.archivedAt !== null && <span className="text-sm text-muted">({t`archived`})</span>}
      {isTemporary && (
        <>
          <span className="badge">{t`Temporary`}</span>
          <button type="button" className="button" onClick={() => tell(closeTemporary())}>
            {t`Close`}
          </button>
        </>
      )}
      <PanelButton panel="files" name={t`Files`} icon={FolderOpen} />
      <PanelButton panel="settings" name={t`Conversation settings`} icon={SlidersHorizontal} />
      <Menu name={t`More options`} icon={Ellipsis} entries={entriesFor(thread)} />
      {isSharing && <ShareDialog threadId={threadId} onClose={() => setSharing(false)} />}
    </ViewHead>
  );

  function entriesFor({ id, archivedAt }: ThreadView) {
    const file = (format: string) => `${base}api/threads/${id}/export?format=${format}`;
    return [
      { name: t`Copy as Markdown`, icon: Copy, onChoose: () => tell(copyWhole(id)) },
      { name: t`Rename`, icon: Pencil, onChoose: () => setNaming(true) },
      { name: t`Fork`, icon: Split, onChoose: () => tell(fork()) },
      { name: t`Share…`, icon: Share2, onChoose: () => setSharing(true) },
      { name: t`Download as Markdown`, icon: FileDown, href: file("markdown") },
      { name: t`Download as JSON`, icon: Braces, href: file("json") },
      archivedAt === null
        ? { name: t`Archive`, icon: Archive, onChoose: () => tell(archiveWithUndo(id)) }
        : { name: t`Unarchive`, icon: ArchiveRestore, onChoose: () => tell(placeThread(id, { archived: false })) },
      { name: t`Delete`, icon: Trash2, isGrave: true, onChoose: () => tell(remove(id)) },
    ];
  }

  async function closeTemporary(): Promise<void> {
    const isSure = await confirmAction({
      title: t`Close this temporary conversation?`,
      text: t`Its messages and files are deleted for good. Which models were used, with how many tokens, stays in the usage figures, without any text.`,
      action: t`Close and delete`,
    });
    if (!isSure) return;
    await client.deleteThread(threadId);
    goTo("/");
  }

  async function remove(id: string): Promise<void> {
    if (
      !(await confirmAction({
        ...{
          title: t`Delete this conversation?`,
          text: t`“${title}” and everything in it will be permanently deleted. This can't be undone.`,
        },
        action: t`Delete`,
      }))
    )
      return;
    await removeThread(id);
    if (pathNow() === `/chat/${id}`) goTo("/");
  }
}

type PanelButtonProps = { readonly panel: string; readonly name: string; readonly icon: MenuEntry["icon"] };

function PanelButton({ panel, name, icon: Icon }: PanelButtonProps) {
  const { shown, show } = usePanel();
  const isOpen = shown === panel;
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={name}
      aria-expanded={isOpen}
      onClick={() => show(isOpen ? undefined : panel)}
    >
      <Icon size={16} aria-hidden />
    </button>
  );
}

/** As the file of it says it. */
async function copyWhole(id: string): Promise<void> {
  const answer = await ask(server, `/api/threads/${id}/export?format=markdown`);
  const isThere = await copyText(await answer.text());
  announce(isThere ? t`Copied` : t`Couldn't copy: blocked by the browser.`);
}
