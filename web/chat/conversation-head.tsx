import {
  Archive,
  ArchiveRestore,
  Braces,
  Ellipsis,
  FileDown,
  Pencil,
  Share2,
  Split,
  Trash2,
  FolderOpen,
  X,
} from "lucide-react";
import { useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import type { ThreadView } from "../../src/protocol/threads/threads.ts";
import { Menu } from "../parts/menus/menu.tsx";
import { confirmAction } from "../parts/confirm.tsx";
import { navigateUnlessLeft, goTo, pathNow } from "../page/path.ts";
import { base, client } from "../page/server.ts";
import { archiveWithUndo } from "../threads/archive.ts";
import { TitleField } from "../threads/title-field.tsx";
import { forkThread, placeThread, removeThread, renameThread, useThread } from "../threads/thread-queries.ts";
import { ViewHead } from "../page/view-head.tsx";
import { ShareDialog } from "./share-dialog.tsx";
import { Sheet } from "../parts/sheet.tsx";
import { FilesPanel } from "../parts/files-panel.tsx";
import { useConversation } from "../conversation/conversation-store.ts";
import { filesOfThread } from "../turn/turn-place.ts";

type HeadProps = { readonly threadId: string; readonly onFail: (error: unknown) => void };

/** The title of a conversation, changed in place, and what can be done with the whole of it. */
export function ConversationHead({ threadId, onFail }: HeadProps) {
  const thread = useThread(threadId);
  const [isNaming, setNaming] = useState(false);
  const [isSharing, setSharing] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  if (!thread) return null;
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
      <ThreadFiles />
      <Menu name={t`More options`} icon={Ellipsis} entries={entriesFor(thread)} />
      {isSharing && <ShareDialog threadId={threadId} onClose={() => setSharing(false)} />}
    </ViewHead>
  );

  function entriesFor({ id, archivedAt }: ThreadView) {
    const file = (format: string) => `${base}api/threads/${id}/export?format=${format}`;
    return [
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

/** The files of the conversation, at the right when they are asked for. */
function ThreadFiles() {
  const { threadId, working } = useConversation();
  const [isOpen, setOpen] = useState(false);
  if (threadId === undefined) return null;
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label={t`Files`}
        title={t`Files`}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <FolderOpen size={16} aria-hidden />
      </button>
      {isOpen && <Panel key={threadId} threadId={threadId} working={working.length} onClose={() => setOpen(false)} />}
    </>
  );
}

type PanelProps = { readonly threadId: string; readonly working: number; readonly onClose: () => void };

function Panel({ threadId, working, onClose }: PanelProps) {
  return (
    <Sheet name={t`Files`} look="side-sheet" onClose={onClose}>
      <div className="grid content-start gap-2 p-3">
        <button type="button" className="icon-button justify-self-end" aria-label={t`Close`} onClick={onClose}>
          <X size={16} aria-hidden />
        </button>
        <FilesPanel files={client.files.at(threadId)} root={filesOfThread(threadId)} round={String(working)} />
      </div>
    </Sheet>
  );
}
