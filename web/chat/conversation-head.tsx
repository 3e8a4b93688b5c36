import { Archive, ArchiveRestore, Braces, Ellipsis, FileDown, Pencil, Share2, Split, Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import type { ThreadView } from "../../src/protocol/threads.ts";
import { Menu } from "../parts/menu.tsx";
import { sure } from "../parts/sure.tsx";
import { fromHere, goTo, pathNow } from "../path.ts";
import { base } from "../server.ts";
import { putAway } from "../threads/put-away.ts";
import { TitleField } from "../threads/title-field.tsx";
import { archiveThread, forkThread, removeThread, renameThread, useThread } from "../threads/threads-store.ts";
import { ViewHead } from "../view-head.tsx";
import { words } from "../words.ts";
import { ShareDialog } from "./share-dialog.tsx";
import { talkWords } from "./talk-words.ts";
import { ThreadFiles } from "./thread-files.tsx";

type HeadProps = { readonly threadId: string; readonly onFail: (error: unknown) => void };

/** The title of a conversation, changed in place, and what can be done with the whole of it. */
export function ConversationHead({ threadId, onFail }: HeadProps) {
  const thread = useThread(threadId);
  const [isNaming, setNaming] = useState(false);
  const [isSharing, setSharing] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  if (!thread) return null;
  const title = thread.title === "" ? words.noTitle : thread.title;
  const tell = (work: Promise<unknown>) => void work.catch(onFail);

  async function fork(): Promise<void> {
    const leadOn = fromHere();
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
          className="min-w-0 truncate text-sm font-semibold"
          onDoubleClick={() => setNaming(true)}
          title={title}
        >
          {title}
        </h1>
      )}
      {thread.archivedAt !== null && <span className="text-sm text-muted">({talkWords.archived})</span>}
      <ThreadFiles />
      <Menu name={talkWords.more} icon={Ellipsis} entries={entriesFor(thread)} />
      {isSharing && <ShareDialog threadId={threadId} onClose={() => setSharing(false)} />}
    </ViewHead>
  );

  function entriesFor({ id, archivedAt }: ThreadView) {
    const file = (format: string) => `${base}api/threads/${id}/export?format=${format}`;
    return [
      { name: talkWords.rename, icon: Pencil, onChoose: () => setNaming(true) },
      { name: talkWords.forkAll, icon: Split, onChoose: () => tell(fork()) },
      { name: talkWords.share, icon: Share2, onChoose: () => setSharing(true) },
      { name: talkWords.saveMarkdown, icon: FileDown, href: file("markdown") },
      { name: talkWords.saveJson, icon: Braces, href: file("json") },
      archivedAt === null
        ? { name: talkWords.archive, icon: Archive, onChoose: () => tell(putAway(id)) }
        : { name: talkWords.bringBack, icon: ArchiveRestore, onChoose: () => tell(archiveThread(id, false)) },
      { name: words.delete, icon: Trash2, isGrave: true, onChoose: () => tell(remove(id)) },
    ];
  }

  async function remove(id: string): Promise<void> {
    if (!(await sure({ ...words.deleteSure(title), action: words.delete }))) return;
    await removeThread(id);
    if (pathNow() === `/chat/${id}`) goTo("/");
  }
}
