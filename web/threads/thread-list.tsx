import { FolderPlus, SquarePen, Users } from "lucide-react";
import { type KeyboardEvent, lazy, Suspense, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import type { FolderView } from "../../src/protocol/threads/folders.ts";
import type { ListedThread } from "../../src/protocol/threads/threads.ts";
import { serverNow } from "../browser/server-time.ts";
import { Act } from "../parts/action-button.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { Problem } from "../parts/problem.tsx";
import { goTo, pathNow } from "../page/path.ts";
import { reasonOf } from "../page/server.ts";
import { FolderSection } from "./folder-section.tsx";
import { changeListView, useListView } from "./list-view.ts";
import { sectionsOf } from "./sections.ts";
import { isSeenHere } from "./read-marks.ts";
import { SelectionBar } from "./selection-bar.tsx";
import { type EntryList, EntryListContext, ThreadEntry, type ThreadMark } from "./thread-entry.tsx";
import { placeThread, type ReadThreads, useFolders, useListChanges, useThreads } from "./thread-queries.ts";
import { useAttentionOfAll } from "./waiting-threads.ts";
import { useSettled } from "./use-settled.ts";
import "./threads.css";

const FolderDialog = lazy(async () => ({ default: (await import("./folder-dialog.tsx")).FolderDialog }));

const dayNames = { today: t`Today`, yesterday: t`Yesterday`, week: t`Last 7 days`, older: t`Older` };
/** Pause after typing before a search starts. */
const typingMs = 150;

type ThreadListProps = {
  /** Of the conversation or room that is open. */
  readonly current: string | undefined;
  readonly onChoose: () => void;
  /** Begins a conversation. */
  readonly onBegin: () => void;
};

/** What a folder is being made or changed for: one there is, or a new one with these in it. */
type EditedFolder = { readonly folder?: FolderView; readonly with?: readonly string[] };

/** One's conversations and rooms: pinned ones, folders, the others by the day they were last used. */
export function ThreadList({ current, onChoose, onBegin }: ThreadListProps) {
  const { search, isArchive } = useListView();
  const { working, waiting } = useAttentionOfAll();
  const [named, setNamed] = useState<string>();
  const [selected, setSelected] = useState<ReadonlySet<string>>();
  const [edited, setEdited] = useState<EditedFolder>();
  const folders = useFolders();
  const list = useRef<HTMLDivElement>(null);
  /** The one beside which the focus was last: it takes the focus when that one is gone. */
  const nextTo = useRef<string>(undefined);
  useListChanges();

  const markOf = (thread: ListedThread): ThreadMark => {
    if (waiting.has(thread.id)) return "waiting";
    if (working.has(thread.id)) return "working";
    return thread.id !== current && thread.unread && !isSeenHere(thread) ? "new" : undefined;
  };
  const entries: EntryList = {
    current,
    search: search.trim(),
    folders,
    markOf,
    named,
    onName(id) {
      setNamed(id);
      const before = named;
      if (before !== undefined) requestAnimationFrame(() => focusThread(list.current, before));
    },
    onGone(thread, way) {
      if (way === "deleted" && pathNow() === `/chat/${thread.id}`) goTo("/");
      if (nextTo.current !== undefined)
        requestAnimationFrame(() => focusThread(list.current, nextTo.current, thread.id));
    },
    selected,
    onSelect(id) {
      const next = new Set(selected);
      if (!next.delete(id)) next.add(id);
      setSelected(next);
    },
    onNewFolder: (id) => setEdited({ with: [id] }),
  };

  function onKeyDown(event: KeyboardEvent): void {
    const { target, key } = event;
    if (!(target instanceof HTMLElement) || !target.matches(".thread-link, .thread-link *, .thread-actions *")) return;
    const links = [...(list.current?.querySelectorAll<HTMLElement>(".thread-link") ?? [])];
    const entry = target.closest<HTMLElement>(".thread-entry");
    const at = links.findIndex((link) => entry?.contains(link));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[key];
    if (to !== undefined) {
      event.preventDefault();
      return links[Math.max(0, Math.min(to, links.length - 1))]?.focus();
    }
    if (key === "F2") {
      event.preventDefault();
      setNamed(entry?.dataset["thread"]);
    }
  }

  return (
    <nav
      aria-label={t`Conversations`}
      className="flex min-h-0 flex-1 flex-col gap-2 px-2 pb-2"
      onClick={({ target }) => {
        if (target instanceof Element && target.closest(".thread-link")) onChoose();
      }}
    >
      <div className="flex items-center">
        <button type="button" className="view-link begin-link flex-1" onClick={onBegin}>
          <SquarePen size={16} aria-hidden /> {t`New conversation`}
        </button>
        <PageLink to="/rooms" look="icon-button" label={t`Rooms`} onFollow={onChoose}>
          <Users size={16} aria-hidden />
        </PageLink>
        <button type="button" className="icon-button" aria-label={t`New folder`} onClick={() => setEdited({})}>
          <FolderPlus size={16} aria-hidden />
        </button>
      </div>
      <input
        type="search"
        dir="auto"
        className="field"
        aria-label={t`Search titles and text`}
        placeholder={t`Search titles and text`}
        value={search}
        onChange={(event) => changeListView({ search: event.target.value })}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          list.current?.querySelector<HTMLElement>(".thread-link")?.focus();
        }}
      />
      <EntryListContext value={entries}>
        <div
          ref={list}
          className="min-h-0 flex-1 overflow-y-auto text-sm"
          onKeyDown={onKeyDown}
          onFocus={({ target }) => {
            const all = [...(list.current?.querySelectorAll<HTMLElement>("[data-thread]") ?? [])];
            const at = all.findIndex((each) => each.contains(target));
            if (at >= 0) nextTo.current = (all[at + 1] ?? all[at - 1])?.dataset["thread"];
          }}
        >
          {search.trim() !== "" ? (
            <FoundThreads search={search.trim()} />
          ) : isArchive ? (
            <ArchivedThreads />
          ) : (
            <OwnOrder folders={folders} onEditFolder={(folder) => setEdited({ folder })} />
          )}
        </div>
      </EntryListContext>
      {selected && (
        <SelectionBar
          selected={selected}
          folders={folders}
          onNewFolder={() => setEdited({ with: [...selected] })}
          onDone={() => setSelected(undefined)}
        />
      )}
      <button
        type="button"
        className="thread-switch"
        aria-pressed={isArchive}
        onClick={() => changeListView({ isArchive: !isArchive })}
      >
        {isArchive ? t`Back to conversations` : t`Archived`}
      </button>
      {edited && (
        <Suspense>
          <FolderDialog
            folder={edited.folder}
            onClose={() => setEdited(undefined)}
            onSaved={async ({ id }) => {
              for (const thread of edited.with ?? []) await placeThread(thread, { folderId: id });
              setEdited(undefined);
            }}
          />
        </Suspense>
      )}
    </nav>
  );
}

type OwnOrderProps = {
  readonly folders: readonly FolderView[];
  readonly onEditFolder: (folder: FolderView) => void;
};

function OwnOrder({ folders, onEditFolder }: OwnOrderProps) {
  const pinned = useThreads({ of: "pinned" });
  const recent = useThreads({ of: "recent" });
  const isEmpty = recent.isLoaded && recent.threads.length === 0 && pinned.threads.length === 0;
  return (
    <>
      <ThreadSection name={t`Pinned`} threads={pinned.threads} />
      {folders.map((folder, at) => (
        <FolderSection
          key={folder.id}
          folder={folder}
          isFirst={at === 0}
          isLast={at === folders.length - 1}
          onEdit={() => onEditFolder(folder)}
        />
      ))}
      {isEmpty && folders.length === 0 && <p className="px-2 py-1 text-muted">{t`No conversations yet`}</p>}
      {sectionsOf(recent.threads, new Date(serverNow())).map(({ name, threads }) => (
        <ThreadSection key={name} name={dayNames[name]} threads={threads} />
      ))}
      <RestOfList of={recent} />
    </>
  );
}

function ThreadSection({ name, threads }: { readonly name: string; readonly threads: readonly ListedThread[] }) {
  if (threads.length === 0) return null;
  return (
    <section aria-label={name}>
      <h2 className="thread-day" aria-hidden>
        {name}
      </h2>
      <ul>
        {threads.map((thread) => (
          <ThreadEntry key={thread.id} thread={thread} />
        ))}
      </ul>
    </section>
  );
}

function ArchivedThreads() {
  const archived = useThreads({ of: "archived" });
  return (
    <>
      <h2 className="thread-day">{t`Archived`}</h2>
      <FlatList of={archived} nothing={t`No archived conversations`} />
    </>
  );
}

function FoundThreads({ search }: { readonly search: string }) {
  const settled = useSettled(search, typingMs);
  return <FlatList of={useThreads({ of: "search", search: settled })} nothing={t`Nothing found.`} />;
}

function FlatList({ of, nothing }: { readonly of: ReadThreads; readonly nothing: string }) {
  return (
    <>
      {of.isLoaded && of.threads.length === 0 && !of.error && <p className="px-2 py-1 text-muted">{nothing}</p>}
      <ul>
        {of.threads.map((thread) => (
          <ThreadEntry key={thread.id} thread={thread} />
        ))}
      </ul>
      <RestOfList of={of} />
    </>
  );
}

function RestOfList({ of: { readMore, error } }: { readonly of: ReadThreads }) {
  return (
    <>
      {readMore && (
        <div className="p-2">
          <Act onAct={readMore}>{t`Show more`}</Act>
        </div>
      )}
      <Problem text={error ? reasonOf(error) : undefined} />
    </>
  );
}

/** Where the focus was in nothing else, or in one that is `gone`. */
function focusThread(list: HTMLElement | null, id: string | undefined, gone?: string): void {
  const { activeElement: at } = document;
  if (at === document.body || (gone !== undefined && at?.closest(`[data-thread="${gone}"]`)))
    list?.querySelector<HTMLElement>(`[data-thread="${id}"] .thread-link`)?.focus();
}
