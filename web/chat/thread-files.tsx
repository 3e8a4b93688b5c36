import { FolderOpen, X } from "lucide-react";
import { useState } from "react";
import { Sheet } from "../frame/sheet.tsx";
import { FilesPanel } from "../parts/files-panel.tsx";
import { client } from "../server.ts";
import { words } from "../words.ts";
import { useConversation } from "./conversation-store.ts";
import { filesOfThread } from "./turn-place.ts";

/** The files of the conversation, at the right when they are asked for. */
export function ThreadFiles() {
  const { threadId, working } = useConversation();
  const [isOpen, setOpen] = useState(false);
  if (threadId === undefined) return null;
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label={words.turn.files}
        title={words.turn.files}
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
    <Sheet name={words.turn.files} look="side-sheet" onClose={onClose}>
      <div className="grid content-start gap-2 p-3">
        <button type="button" className="icon-button justify-self-end" aria-label={words.close} onClick={onClose}>
          <X size={16} aria-hidden />
        </button>
        <FilesPanel files={client.files.at(threadId)} root={filesOfThread(threadId)} round={String(working)} />
      </div>
    </Sheet>
  );
}
