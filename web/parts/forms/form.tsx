import type { ReactNode } from "react";
import { Problem } from "../problem.tsx";
import { type IsSure, useAct } from "../action-button.tsx";

type FormProps = {
  readonly name: string;
  readonly submit: string;
  readonly onSubmit: () => Promise<unknown>;
  readonly isSure?: IsSure | undefined;
  readonly children: ReactNode;
  readonly beside?: ReactNode;
};

/** Fields and what is done with them; Enter does it too. What was typed stays when it fails. */
export function Form({ name, submit, onSubmit, isSure, children, beside }: FormProps) {
  const { isBusy, problem, act } = useAct(onSubmit, isSure);
  return (
    <form
      aria-label={name}
      className="flex flex-wrap items-end gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) act();
      }}
    >
      {children}
      <button type="submit" className="button-main" aria-disabled={isBusy || undefined}>
        {submit}
      </button>
      {beside}
      <div className="basis-full empty:hidden">{problem !== undefined && <Problem text={problem} />}</div>
    </form>
  );
}
