import { Pencil, Trash2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { t } from "@lingui/core/macro";
import type { TaskView } from "../../src/protocol/threads/tasks.ts";
import type { TaskInput } from "../../src/client/tasks.ts";
import { Problem } from "../parts/problem.tsx";
import { useAct } from "../parts/action-button.tsx";

type TaskRowProps = {
  readonly task: TaskView;
  /** It is gone, or about to be. */
  readonly isDeleted: boolean;
  readonly onChange: (change: Partial<TaskInput>) => Promise<void>;
  readonly onRemove: () => Promise<void>;
  readonly onUndo: () => Promise<void>;
};

/** One task: completed by its box, changed in place, deleted and put back. */
export function TaskRow({ task, isDeleted, onChange, onRemove, onUndo }: TaskRowProps) {
  const { title, description, status, list } = task;
  const [isEdited, setEdited] = useState(false);
  const box = useRef<HTMLInputElement>(null);
  const wasEdited = useRef(false);
  useEffect(() => {
    if (wasEdited.current && !isEdited) box.current?.focus();
    wasEdited.current = isEdited;
  }, [isEdited]);
  const { isBusy, problem, act } = useAct((work: () => Promise<void>) => work());
  /** The box shows what was asked for until it is done. */
  const [asked, setAsked] = useState<TaskInput["status"]>();
  if (isDeleted) return <DeletedTask task={task} onUndo={onUndo} />;
  if (isEdited) return <EditedTask task={task} onChange={onChange} onEnd={() => setEdited(false)} />;
  const isDone = status === "completed";
  return (
    <li className="task-row">
      <label className="task-box">
        <input
          ref={box}
          type="checkbox"
          aria-label={t`Done: ${title}`}
          checked={asked === undefined ? isDone : asked === "completed"}
          onChange={() => {
            const wanted = isDone ? "pending" : "completed";
            setAsked(wanted);
            act(() => onChange({ status: wanted }).finally(() => setAsked(undefined)));
          }}
          onKeyDown={({ key }) => {
            if (key === "F2") setEdited(true);
            if (key === "Delete" && !isBusy) act(onRemove);
          }}
        />
      </label>
      <div className="min-w-0 grow py-1" onDoubleClick={() => setEdited(true)}>
        <p dir="auto" className={isDone ? "task-title text-muted line-through" : "task-title"}>
          {title}
        </p>
        {/* A program that keeps tasks for several people says whose each is. */}
        {list !== null && (
          <p dir="auto" className="task-list-name">
            {t`List of ${{ name: list }}`}
          </p>
        )}
        {description !== "" && (
          <p dir="auto" className="task-description">
            {description}
          </p>
        )}
        <Problem text={problem} />
      </div>
      <button type="button" className="icon-button" aria-label={t`Edit: ${title}`} onClick={() => setEdited(true)}>
        <Pencil size={16} aria-hidden />
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label={t`Delete: ${title}`}
        disabled={isBusy}
        onClick={() => act(onRemove)}
      >
        <Trash2 size={16} aria-hidden />
      </button>
    </li>
  );
}

/** It stands where the task stood, so that nothing moves under the finger. */
function DeletedTask({ task, onUndo }: Pick<TaskRowProps, "task" | "onUndo">) {
  const { isBusy, problem, act } = useAct(onUndo);
  return (
    <li className="task-row task-deleted">
      <span role="status" className="min-w-0 grow truncate ps-2">
        {t`Deleted: ${{ title: task.title }}`}
      </span>
      <Problem text={problem} />
      <button type="button" className="button" autoFocus disabled={isBusy} onClick={() => act()}>
        {t`Undo`}
      </button>
    </li>
  );
}

type EditedProps = Pick<TaskRowProps, "task" | "onChange"> & { readonly onEnd: () => void };

function EditedTask({ task, onChange, onEnd }: EditedProps) {
  const [title, setTitle] = useState(task.title);
  const [description, setDescription] = useState(task.description);
  const { isBusy, problem, act } = useAct(async () => {
    await onChange({ title, description });
    onEnd();
  });
  const save = () => {
    if (!isBusy && title.trim() !== "") act();
  };
  return (
    <li className="task-row">
      <form
        aria-label={t`Edit: ${{ title: task.title }}`}
        className="grid min-w-0 grow gap-2 py-1"
        onKeyDown={(event) => {
          if (event.key === "Escape") onEnd();
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
        }}
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <input
          dir="auto"
          className="field"
          aria-label={t`Task`}
          maxLength={500}
          autoFocus
          value={title}
          onChange={(event) => setTitle(event.target.value)}
        />
        <textarea
          dir="auto"
          className="field field-sizing"
          aria-label={t`Description`}
          placeholder={t`Description`}
          maxLength={10_000}
          rows={2}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
        <Problem text={problem} />
        <span className="flex gap-2">
          <button type="submit" className="button-main" disabled={isBusy || title.trim() === ""}>
            {t`Save`}
          </button>
          <button type="button" className="button" onClick={onEnd}>
            {t`Cancel`}
          </button>
        </span>
      </form>
    </li>
  );
}
