import { type ReactNode, useRef, useState } from "react";
import { Problem } from "../problem.tsx";
import { renderWhenReleased } from "../render-when-released.ts";
import { type IsSure, useAct } from "../action-button.tsx";
import {
  controlProblem,
  controlsOf,
  FormProblems,
  isControl,
  placeProblems,
  type ProblemsOfForm,
} from "./field-problems.ts";
import { useUnsavedChanges } from "./unsaved-changes.ts";

type FormProps = {
  readonly name: string;
  readonly submit: string;
  /** What is sent can't be undone. */
  readonly isGrave?: boolean;
  readonly onSubmit: () => Promise<unknown>;
  readonly isSure?: IsSure | undefined;
  /** Before the page leads elsewhere, people are asked whether what they typed may go. */
  readonly asksBeforeLeaving?: boolean;
  readonly children: ReactNode;
  readonly beside?: ReactNode;
};

const nothing: ProblemsOfForm = new Map();

/**
 * Fields and what is done with them; Enter does it too. What is wrong stands beside its field: once that was changed and left, and of
 * all when they are sent, with the focus on the first. So does what the server says of a field, which is known by its `name`. What was
 * typed stays when it fails.
 */
export function Form({
  name,
  submit,
  onSubmit,
  isSure,
  asksBeforeLeaving = false,
  isGrave = false,
  children,
  beside,
}: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [problems, setProblems] = useState(nothing);
  const [isChanged, setChanged] = useState(false);
  const changed = useRef(new Set<string>());
  const { isBusy, problem, act } = useAct(async () => {
    try {
      await onSubmit();
      changed.current.clear();
      setChanged(false);
    } catch (error) {
      const { placed, others } = placeProblems(error, controlsOf(form.current!));
      if (placed.size === 0) throw error;
      show(placed);
      if (others.length > 0) throw new Error(others.join("\n"), { cause: error });
    }
  }, isSure);
  useUnsavedChanges(asksBeforeLeaving && isChanged && !isBusy);

  function show(found: ProblemsOfForm): void {
    setProblems(found);
    const first = controlsOf(form.current!).find(({ id }) => found.has(id));
    first?.closest("details")?.setAttribute("open", "");
    first?.focus();
  }
  function change(id: string, found: string | undefined): void {
    setProblems((now) => {
      if (now.get(id) === found) return now;
      const others = [...now].filter(([of]) => of !== id);
      return new Map(found === undefined ? others : [...others, [id, found]]);
    });
  }

  return (
    <form
      ref={form}
      aria-label={name}
      className="flex flex-wrap items-end gap-3"
      noValidate
      onChange={({ target }) => {
        setChanged(true);
        if (!isControl(target)) return;
        changed.current.add(target.id);
        change(target.id, undefined);
      }}
      onBlur={({ target }) => {
        if (!isControl(target) || !changed.current.has(target.id)) return;
        // What a click of a button took the focus from must not move that button away from it.
        renderWhenReleased(() => change(target.id, controlProblem(target)));
      }}
      onSubmit={(event) => {
        event.preventDefault();
        const wrong = controlsOf(event.currentTarget).flatMap((control) => {
          const found = controlProblem(control);
          return found === undefined ? [] : [[control.id, found] as const];
        });
        show(new Map(wrong));
        if (wrong.length === 0) act();
      }}
    >
      <FormProblems value={problems}>{children}</FormProblems>
      <button
        type="submit"
        className={isGrave ? "button-main bg-bad" : "button-main"}
        aria-disabled={isBusy || undefined}
      >
        {submit}
      </button>
      {beside}
      <div className="basis-full empty:hidden">{problem !== undefined && <Problem text={problem} />}</div>
    </form>
  );
}
