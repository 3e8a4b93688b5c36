import { MessageSquare, Plus } from "lucide-react";
import { useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import type { TaskStatus, TaskView } from "../../src/protocol/threads/tasks.ts";
import { Problem } from "../parts/problem.tsx";
import { useAct } from "../parts/action-button.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { PageLink } from "../parts/page-link.tsx";
import { useQuery } from "../page/path.ts";
import { TaskRow } from "./task-row.tsx";
import "./tasks.css";
import { type TaskListState, useTasks } from "./use-tasks.ts";

const filterNames = { all: t`All`, pending: t`Open`, completed: t`Done` };

const emptyTexts = {
  all: t`No tasks yet. Add one above, or ask the assistant to.`,
  pending: t`No open tasks`,
  completed: t`No completed tasks yet`,
};

const filters = ["all", "pending", "completed"] as const;

/** One's own task list; which of them stands in the address. */
export function TasksView() {
  const asked = useQuery().get("status");
  const status = filters.find((each) => each === asked) ?? "all";
  return <TaskList key={status} status={status} />;
}

function TaskList({ status }: { readonly status: "all" | TaskStatus }) {
  const tasks = useTasks(status);
  const { page, problem, reload } = tasks;
  const [deleted, setDeleted] = useState<TaskView>();
  const rows = useRef<HTMLUListElement>(null);
  const count = page && { ...page.counts, all: page.counts.pending + page.counts.completed };

  return (
    <div className="tasks-view">
      <div className="tasks-column">
        <header className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <h1 className="grow text-lg font-semibold">{t`Tasks`}</h1>
          <PageLink to="/?agent=todo" look="button">
            <MessageSquare size={16} aria-hidden /> {t`Ask the assistant`}
          </PageLink>
        </header>
        <AddTask tasks={tasks} />
        <nav aria-label={t`Filter tasks`} className="task-filters">
          {filters.map((each) => (
            <PageLink
              key={each}
              to={each === "all" ? "/tasks" : `/tasks?status=${each}`}
              look="task-filter"
              isCurrent={each === status}
            >
              {filterNames[each]} {count && <span className="tabular-nums">{count[each]}</span>}
            </PageLink>
          ))}
        </nav>
        {page ? <Problem text={problem} /> : <Waiting of={{ data: page, problem, reload }} />}
        {page?.data.length === 0 && deleted === undefined && <p className="py-6 text-muted">{emptyTexts[status]}</p>}
        <ul ref={rows} aria-label={t`Your tasks`} onKeyDown={(event) => moveBetween(rows.current, event)}>
          {withDeleted(page?.data ?? [], deleted).map((task) => (
            <TaskRow
              key={task.id}
              task={task}
              isDeleted={task.id === deleted?.id}
              onChange={(change) => tasks.change(task.id, change)}
              onRemove={async () => {
                setDeleted(task);
                try {
                  await tasks.remove(task.id);
                } catch (failed) {
                  setDeleted(undefined);
                  throw failed;
                }
              }}
              onUndo={async () => {
                const { title, description, status: was, list } = task;
                await tasks.add({ title, description, status: was, list });
                setDeleted(undefined);
              }}
            />
          ))}
        </ul>
        {tasks.hasMore && (
          <button type="button" className="button self-start" onClick={tasks.showMore}>
            {t`Show more`}
          </button>
        )}
        {(page?.data.length ?? 0) > 0 && (
          <p className="keys-hint">{t`Arrow keys move, Space marks as done, F2 edits, Del deletes.`}</p>
        )}
      </div>
    </div>
  );
}

function AddTask({ tasks }: { readonly tasks: TaskListState }) {
  const [title, setTitle] = useState("");
  const adding = useRef(new Set<string>());
  const { problem, act } = useAct(async () => {
    adding.current.add(title);
    await tasks.add({ title }).finally(() => adding.current.delete(title));
    // What was typed meanwhile is the next one.
    setTitle((now) => (now === title ? "" : now));
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        // Who presses twice means one; the next one need not wait for it.
        if (!adding.current.has(title) && title.trim() !== "") act();
      }}
    >
      <div className="flex gap-2">
        <input
          dir="auto"
          className="field min-w-0 grow"
          aria-label={t`Add a task`}
          placeholder={t`What needs to be done? Press Enter to add it.`}
          maxLength={500}
          autoComplete="off"
          value={title}
          onChange={(event) => setTitle(event.target.value)}
        />
        <button type="submit" className="button-main" disabled={title.trim() === ""}>
          <Plus size={16} aria-hidden /> {t`Add`}
        </button>
      </div>
      <Problem text={problem} />
    </form>
  );
}

function withDeleted(tasks: readonly TaskView[], deleted: TaskView | undefined): readonly TaskView[] {
  if (!deleted) return tasks;
  return [...tasks.filter(({ id }) => id !== deleted.id), deleted].sort((one, other) => other.id - one.id);
}

/** Up and down through the check boxes. */
function moveBetween(list: HTMLUListElement | null, event: React.KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || !(event.target instanceof HTMLInputElement) || event.target.type !== "checkbox") return;
  const boxes = [...(list?.querySelectorAll<HTMLInputElement>("input[type=checkbox]") ?? [])];
  const next = boxes[boxes.indexOf(event.target) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
