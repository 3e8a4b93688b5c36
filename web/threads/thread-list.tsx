import { SquarePen } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import type { ListedThread } from "../../src/protocol/threads/threads.ts";
import { Problem } from "../parts/problem.tsx";
import { Act } from "../parts/action-button.tsx";
import { goTo, pathNow } from "../page/path.ts";
import { useAttentionOfAll } from "./waiting-threads.ts";
import { sectionsOf } from "./sections.ts";
import { isNew, leaveThread, markRead, useSeen } from "./read-marks.ts";
import { ThreadEntry, type ThreadMark } from "./thread-entry.tsx";
import { loadMore, searchThreads, showArchived, threadLeft, useThreads } from "./threads-store.ts";
import "./threads.css";

const dayNames = { today: t`Today`, yesterday: t`Yesterday`, week: t`Last 7 days`, older: t`Older` };

type ThreadListProps = {
  readonly current: string | undefined;
  readonly onChoose: () => void;
  /** Begins a conversation. */
  readonly onBegin: () => void;
};

/** One's conversations, the last used first, by days; or those that were put away, or what a search finds. */
export function ThreadList({ current, onChoose, onBegin }: ThreadListProps) {
  const { threads, search, archived, hasMore, isLoaded, error } = useThreads();
  const { working, waiting } = useAttentionOfAll();
  const [named, setNamed] = useState<string>();
  const list = useRef<HTMLDivElement>(null);
  useSeen();
  useEffect(() => markRead(threads, current), [threads, current]);
  const latest = useRef(threads);
  latest.current = threads;
  useEffect(() => {
    if (current === undefined) return undefined;
    return () => {
      leaveThread(current, latest.current);
      threadLeft();
    };
  }, [current]);

  const markOf = (thread: ListedThread): ThreadMark => {
    if (waiting.has(thread.id)) return "waiting";
    if (working.has(thread.id)) return "working";
    return thread.id !== current && isNew(thread) ? "new" : undefined;
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

  const entry = (thread: ListedThread) => (
    <ThreadEntry
      key={thread.id}
      thread={thread}
      isCurrent={thread.id === current}
      mark={markOf(thread)}
      search={search}
      isNamed={named === thread.id}
      onName={(isNamed) => {
        setNamed(isNamed ? thread.id : undefined);
        if (!isNamed) requestAnimationFrame(() => focusThread(list.current, thread.id));
      }}
      onRemove={() => {
        if (pathNow() === `/chat/${thread.id}`) goTo("/");
        const next = threads[threads.indexOf(thread) + 1] ?? threads.at(-2);
        if (next) requestAnimationFrame(() => focusThread(list.current, next.id));
      }}
    />
  );

  return (
    <nav
      aria-label={t`Conversations`}
      className="flex min-h-0 flex-1 flex-col gap-2 px-2 pb-2"
      onClick={({ target }) => {
        if (target instanceof Element && target.closest(".thread-link")) onChoose();
      }}
    >
      <button type="button" className="view-link begin-link" onClick={onBegin}>
        <SquarePen size={16} aria-hidden /> {t`New conversation`}
      </button>
      <input
        type="search"
        dir="auto"
        className="field"
        aria-label={t`Search titles and text`}
        placeholder={t`Search titles and text`}
        value={search}
        onChange={(event) => searchThreads(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          list.current?.querySelector<HTMLElement>(".thread-link")?.focus();
        }}
      />
      <div ref={list} className="min-h-0 flex-1 overflow-y-auto text-sm" onKeyDown={onKeyDown}>
        {archived && <h2 className="thread-day">{t`Archived`}</h2>}
        {isLoaded && threads.length === 0 && (
          <p className="px-2 py-1 text-muted">
            {search.trim() !== ""
              ? t`Nothing found.`
              : archived
                ? t`No archived conversations`
                : t`No conversations yet`}
          </p>
        )}
        {search.trim() !== "" || archived ? (
          <ul>{threads.map(entry)}</ul>
        ) : (
          sectionsOf(threads).map(({ name, threads: some }) => (
            <section key={name} aria-label={dayNames[name]}>
              <h2 className="thread-day" aria-hidden>
                {dayNames[name]}
              </h2>
              <ul>{some.map(entry)}</ul>
            </section>
          ))
        )}
        {hasMore && search.trim() === "" && (
          <div className="p-2">
            <Act onAct={loadMore}>{t`Show more`}</Act>
          </div>
        )}
        <Problem text={error} />
      </div>
      <button type="button" className="thread-switch" aria-pressed={archived} onClick={() => showArchived(!archived)}>
        {archived ? t`Back to conversations` : t`Archived`}
      </button>
    </nav>
  );
}

function focusThread(list: HTMLElement | null, id: string): void {
  if (document.activeElement === document.body)
    list?.querySelector<HTMLElement>(`[data-thread="${id}"] .thread-link`)?.focus();
}
