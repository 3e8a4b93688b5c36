import { Archive, ArchiveRestore, Ellipsis, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { t } from "@lingui/core/macro";
import type { ListedThread } from "../../src/protocol/threads/threads.ts";
import { useIsTouched } from "../browser/screen-width.ts";
import { Menu } from "../parts/menus/menu.tsx";
import { Problem } from "../parts/problem.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { confirmAction } from "../parts/confirm.tsx";
import { reasonOf } from "../page/server.ts";
import { HighlightedText } from "./highlighted-text.tsx";
import { archiveWithUndo } from "./archive.ts";
import { archiveThread, removeThread, renameThread } from "./threads-store.ts";
import { TitleField } from "./title-field.tsx";

const markNames = { waiting: t`needs your input`, working: t`working`, new: t`new` };

export type ThreadMark = "waiting" | "working" | "new" | undefined;

type ThreadEntryProps = {
  readonly thread: ListedThread;
  readonly isCurrent: boolean;
  readonly mark: ThreadMark;
  readonly isNamed: boolean;
  /** What the list was searched for; empty: nothing. */
  readonly search: string;
  /** Whether its title is being changed. */
  readonly onName: (isNamed: boolean) => void;
  readonly onRemove: () => void;
};

/** A conversation in the list: where it leads, what happens in it, and what can be done with it. */
export function ThreadEntry({ thread, isCurrent, mark, search, isNamed, onName, onRemove }: ThreadEntryProps) {
  const { id, archivedAt, found } = thread;
  const [problem, setProblem] = useState<string>();
  const title = thread.title === "" ? t`(no title)` : thread.title;
  const tell = (work: Promise<void>) => {
    setProblem(undefined);
    work.catch((error: unknown) => setProblem(reasonOf(error)));
  };
  const isArchived = archivedAt !== null;
  const isTouched = useIsTouched();
  const deeds = [
    { name: t`Rename`, icon: Pencil, onChoose: () => onName(true) },
    {
      name: isArchived ? t`Unarchive` : t`Archive`,
      icon: isArchived ? ArchiveRestore : Archive,
      onChoose: () => tell(isArchived ? archiveThread(id, false) : archiveWithUndo(id)),
    },
    { name: t`Delete`, icon: Trash2, isGrave: true, onChoose: () => tell(remove()) },
  ];
  return (
    <li
      className="group thread-entry"
      aria-current={isCurrent ? "page" : undefined}
      data-thread={id}
      onKeyDown={(event) => {
        if (event.key !== "Delete" || isNamed) return;
        event.preventDefault();
        tell(remove());
      }}
    >
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
            <span dir="auto" className={`min-w-0 truncate ${mark === "new" ? "font-semibold" : ""}`}>
              <HighlightedText text={title} search={search} />
            </span>
            {mark && <Mark of={mark} />}
          </span>
          {found && found.excerpt !== title && (
            <span dir="auto" className="block truncate text-xs text-muted">
              <HighlightedText text={found.excerpt} search={search} fromFirst />
            </span>
          )}
        </PageLink>
      )}
      {!isNamed && (
        <span className="thread-actions">
          {isTouched ? (
            <Menu name={t`More options: ${title}`} icon={Ellipsis} entries={deeds} />
          ) : (
            deeds.map(({ name, icon: Icon, onChoose }) => (
              <button
                key={name}
                type="button"
                className="icon-button"
                aria-label={`${name}: ${title}`}
                onClick={onChoose}
              >
                <Icon size={16} aria-hidden />
              </button>
            ))
          )}
        </span>
      )}
      {problem !== undefined && <Problem text={problem} />}
    </li>
  );

  async function remove(): Promise<void> {
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
    onRemove();
  }
}

const looks = { waiting: "text-warn", working: "text-accent", new: "text-accent" } as const;
const shapes = { waiting: "▲", working: "●", new: "◆" } as const;

/** A shape in its colour; what it means is told by its title, and to whoever hears the page. */
function Mark({ of }: { readonly of: NonNullable<ThreadMark> }) {
  return (
    <span className={`ms-auto flex-none text-xs ${looks[of]}`} title={markNames[of]}>
      <span aria-hidden>{shapes[of]}</span>
      <span className="sr-only">{markNames[of]}</span>
    </span>
  );
}
