import {
  Archive,
  ArchiveRestore,
  Check,
  Circle,
  CircleCheck,
  Ellipsis,
  Folder,
  FolderInput,
  FolderPlus,
  ListChecks,
  Pencil,
  Pin,
  PinOff,
  Trash2,
  Users,
} from "lucide-react";
import { createContext, useContext, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import type { FolderView } from "../../src/protocol/threads/folders.ts";
import type { ListedThread } from "../../src/protocol/threads/threads.ts";
import { Menu, type MenuEntry } from "../parts/menus/menu.tsx";
import { Problem } from "../parts/problem.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { confirmAction } from "../parts/confirm.tsx";
import { reasonOf } from "../page/server.ts";
import { HighlightedText } from "./highlighted-text.tsx";
import { archiveWithUndo } from "./archive.ts";
import { placeThread, removeThread, renameThread } from "./thread-queries.ts";
import { TitleField } from "./title-field.tsx";

const markNames = { waiting: t`needs your input`, working: t`working`, new: t`new` };

export type ThreadMark = "waiting" | "working" | "new" | undefined;

/** What every entry of the list must know of the list. */
export type EntryList = {
  /** The one that is open. */
  readonly current: string | undefined;
  /** What the list was searched for; empty: nothing. */
  readonly search: string;
  readonly folders: readonly FolderView[];
  readonly markOf: (thread: ListedThread) => ThreadMark;
  /** The one whose title is being changed. */
  readonly named: string | undefined;
  readonly onName: (id: string | undefined) => void;
  /** It is no more where it was: deleted, or put away. */
  readonly onGone: (thread: ListedThread, way: "deleted" | "archived") => void;
  /** Undefined: none are being selected. */
  readonly selected: ReadonlySet<string> | undefined;
  readonly onSelect: (id: string) => void;
  /** Makes a folder with this one in it. */
  readonly onNewFolder: (id: string) => void;
};

export const EntryListContext = createContext<EntryList | undefined>(undefined);

/** Where a conversation or room is shown. */
export function pathOfThread({ id, kind, found }: Pick<ListedThread, "id" | "kind" | "found">): string {
  return kind === "room" ? `/rooms/${id}` : `/chat/${id}${found ? `?item=${found.item}` : ""}`;
}

/** A conversation or room in the list: where it leads, what happens in it, and what can be done with it. */
export function ThreadEntry({ thread }: { readonly thread: ListedThread }) {
  const list = useContext(EntryListContext)!;
  const [problem, setProblem] = useState<string>();
  const entry = useRef<HTMLLIElement>(null);
  const { id, kind, found } = thread;
  const title = thread.title === "" ? t`(no title)` : thread.title;
  const mark = list.markOf(thread);
  const isNamed = list.named === id;
  const isCurrent = list.current === id;
  const tell = (work: Promise<unknown>) => {
    setProblem(undefined);
    work.catch((error: unknown) => setProblem(reasonOf(error)));
  };
  async function remove(): Promise<void> {
    const isSure = await confirmAction({
      title: t`Delete this conversation?`,
      text: t`“${title}” and everything in it will be permanently deleted. This can't be undone.`,
      action: t`Delete`,
    });
    if (!isSure) return;
    const gone = list.onGone;
    await removeThread(id);
    gone(thread, "deleted");
  }
  return (
    <li
      ref={entry}
      className="group thread-entry"
      aria-current={isCurrent ? "page" : undefined}
      data-thread={id}
      onKeyDown={(event) => {
        const { key, shiftKey } = event;
        if (isNamed) return;
        if (key === "ContextMenu" || (key === "F10" && shiftKey))
          entry.current?.querySelector<HTMLElement>(".thread-actions button")?.click();
        else if (key === "Delete" && kind === "conversation") tell(remove());
        else return;
        event.preventDefault();
      }}
    >
      {list.selected && (
        <input
          type="checkbox"
          className="thread-check"
          aria-label={t`Select ${title}`}
          checked={list.selected.has(id)}
          onChange={() => list.onSelect(id)}
        />
      )}
      {isNamed ? (
        <TitleField
          title={thread.title}
          onDone={(changed) => {
            list.onName(undefined);
            if (changed !== undefined) tell(renameThread(id, changed));
          }}
        />
      ) : (
        <PageLink to={pathOfThread(thread)} look="thread-link" isCurrent={isCurrent}>
          <span className="flex min-w-0 items-center gap-2">
            {kind === "room" && <Users size={14} aria-label={t`Room`} className="flex-none text-muted" />}
            <span dir="auto" className={`min-w-0 truncate ${mark === "new" ? "font-semibold" : ""}`}>
              <HighlightedText text={title} search={list.search} />
            </span>
            {mark && <Mark of={mark} />}
          </span>
          {found && found.excerpt !== title && (
            <span dir="auto" className="block truncate text-xs text-muted">
              <HighlightedText text={found.excerpt} search={list.search} fromFirst />
            </span>
          )}
        </PageLink>
      )}
      {!isNamed && (
        <span className="thread-actions">
          {/* By the keyboard with the menu key: each entry is one stop. */}
          <Menu
            name={t`More options: ${title}`}
            icon={Ellipsis}
            entries={entriesFor(thread, list, { tell, remove })}
            isSkipped
          />
        </span>
      )}
      {problem !== undefined && <Problem text={problem} />}
    </li>
  );
}

type EntryDeeds = { readonly tell: (work: Promise<unknown>) => void; readonly remove: () => Promise<void> };

/** A room is renamed and deleted by whoever made it, in the room. */
function entriesFor(thread: ListedThread, list: EntryList, { tell, remove }: EntryDeeds): readonly MenuEntry[] {
  const { id, kind, archivedAt, pinnedAt, folderId, unread } = thread;
  const isOwn = kind === "conversation";
  const entries: readonly (MenuEntry | false)[] = [
    isOwn && { name: t`Rename`, icon: Pencil, onChoose: () => list.onName(id) },
    pinnedAt === null
      ? { name: t`Pin`, icon: Pin, onChoose: () => tell(placeThread(id, { pinned: true })) }
      : { name: t`Unpin`, icon: PinOff, onChoose: () => tell(placeThread(id, { pinned: false })) },
    {
      name: t`Move to folder`,
      icon: FolderInput,
      entries: folderEntries(list.folders, folderId, {
        onMove: (folder) => tell(placeThread(id, { folderId: folder })),
        onNew: () => list.onNewFolder(id),
      }),
    },
    unread
      ? { name: t`Mark as read`, icon: CircleCheck, onChoose: () => tell(placeThread(id, { read: true })) }
      : { name: t`Mark as unread`, icon: Circle, onChoose: () => tell(placeThread(id, { read: false })) },
    { name: t`Select`, icon: ListChecks, onChoose: () => list.onSelect(id) },
    archivedAt === null
      ? {
          name: t`Archive`,
          icon: Archive,
          onChoose: () => tell(archiveWithUndo(id).then(() => list.onGone(thread, "archived"))),
        }
      : { name: t`Unarchive`, icon: ArchiveRestore, onChoose: () => tell(placeThread(id, { archived: false })) },
    isOwn && { name: t`Delete`, icon: Trash2, isGrave: true, onChoose: () => tell(remove()) },
  ];
  return entries.filter((entry) => entry !== false);
}

type FolderDeeds = { readonly onMove: (folder: string | null) => void; readonly onNew: () => void };

/** Where something can be moved to; `current`: where it is, if all are in one. */
export function folderEntries(
  folders: readonly FolderView[],
  current: string | null | undefined,
  { onMove, onNew }: FolderDeeds,
): readonly MenuEntry[] {
  return [
    ...folders.map(({ id, name }) => ({
      name,
      icon: id === current ? Check : Folder,
      onChoose: () => onMove(id),
    })),
    ...(current === null ? [] : [{ name: t`No folder`, icon: Circle, onChoose: () => onMove(null) }]),
    { name: t`New folder`, icon: FolderPlus, onChoose: onNew },
  ];
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
