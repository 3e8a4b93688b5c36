import { Archive, ArchiveRestore, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import type { ListedThread } from "../../src/client/threads.ts";
import { PageLink, Problem } from "../parts/parts.tsx";
import { reasonOf } from "../server.ts";
import { words } from "../words.ts";
import { archiveThread, removeThread, renameThread } from "./threads-store.ts";
import { threadWords } from "./thread-words.ts";
import { TitleField } from "./title-field.tsx";

export type ThreadMark = "waiting" | "working" | "new" | undefined;

type EntryProps = {
  readonly thread: ListedThread;
  readonly isCurrent: boolean;
  readonly mark: ThreadMark;
  readonly isNamed: boolean;
  /** Whether its title is being changed. */
  readonly onName: (isNamed: boolean) => void;
  readonly onRemove: () => void;
};

/** A conversation in the list: where it leads, what happens in it, and what can be done with it. */
export function ThreadEntry({ thread, isCurrent, mark, isNamed, onName, onRemove }: EntryProps) {
  const { id, archivedAt, found } = thread;
  const [problem, setProblem] = useState<string>();
  const title = thread.title === "" ? words.noTitle : thread.title;
  const tell = (work: Promise<void>) => {
    setProblem(undefined);
    work.catch((error: unknown) => setProblem(reasonOf(error)));
  };
  const isArchived = archivedAt !== null;
  return (
    <li className="group thread-entry" aria-current={isCurrent ? "page" : undefined} data-thread={id}>
      {isNamed ? (
        <TitleField
          title={thread.title}
          onDone={(changed) => {
            onName(false);
            if (changed !== undefined) tell(renameThread(id, changed));
          }}
        />
      ) : (
        <PageLink to={`/chat/${id}${found ? `?item=${found.item}` : ""}`} look="thread-link" isCurrent={isCurrent}>
          <span className="flex min-w-0 items-baseline gap-2">
            <span className={`min-w-0 truncate ${mark === "new" ? "font-semibold" : ""}`}>{title}</span>
            {mark && <Mark of={mark} />}
          </span>
          {found && <span className="block truncate text-xs text-muted">{found.excerpt}</span>}
        </PageLink>
      )}
      <span className="thread-actions">
        <button
          type="button"
          className="icon-button"
          aria-label={`${words.rename}: ${title}`}
          onClick={() => onName(true)}
        >
          <Pencil size={16} aria-hidden />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label={`${isArchived ? threadWords.bringBack : words.archive}: ${title}`}
          onClick={() => tell(archiveThread(id, !isArchived))}
        >
          {isArchived ? <ArchiveRestore size={16} aria-hidden /> : <Archive size={16} aria-hidden />}
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label={`${words.delete}: ${title}`}
          onClick={() => tell(remove())}
        >
          <Trash2 size={16} aria-hidden />
        </button>
      </span>
      {problem !== undefined && <Problem text={problem} />}
    </li>
  );

  async function remove(): Promise<void> {
    if (!confirm(words.deleteSure)) return;
    await removeThread(id);
    onRemove();
  }
}

const looks = { waiting: "text-warn", working: "text-accent", new: "text-accent" } as const;
const shapes = { waiting: "▲", working: "●", new: "◆" } as const;

function Mark({ of }: { readonly of: NonNullable<ThreadMark> }) {
  return (
    <span className="ml-auto flex-none text-xs">
      <span aria-hidden className={looks[of]}>
        {shapes[of]}
      </span>{" "}
      {threadWords.marks[of]}
    </span>
  );
}
