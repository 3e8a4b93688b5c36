import { type ReactNode, useRef, useState } from "react";
import { reasonOf } from "../page/server.ts";
import { Problem } from "./problem.tsx";

type ActProps = {
  readonly onAct: () => Promise<unknown>;
  readonly isSure?: IsSure | undefined;
  readonly children: ReactNode;
  /** Read out instead of what is shown: says of what. */
  readonly name?: string;
  readonly look?: "button" | "button-main" | "icon-button";
  readonly isDisabled?: boolean;
};

/** A button for what takes a while and may fail: the reason stands beside it. */
export function Act({ onAct, isSure, children, name, look = "button", isDisabled = false }: ActProps) {
  const { isBusy, problem, act } = useAct(onAct, isSure);
  return (
    <>
      <button
        type="button"
        className={look}
        aria-label={name}
        disabled={isDisabled}
        // With `disabled` it would lose the focus.
        aria-disabled={isBusy || undefined}
        onClick={() => act()}
      >
        {children}
      </button>
      <Problem text={problem} />
    </>
  );
}

/** Asks back before it is done. */
export type IsSure<Input = void> = (input: Input) => Promise<boolean>;

/** Does something once at a time, and keeps why it failed. */
export function useAct<Input = void>(
  onAct: (input: Input) => Promise<unknown>,
  isSure?: IsSure<Input>,
): {
  readonly isBusy: boolean;
  readonly problem: string | undefined;
  readonly act: (input: Input) => void;
} {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const busy = useRef(false);
  async function act(input: Input): Promise<void> {
    if (busy.current) return;
    busy.current = true;
    try {
      if (isSure && !(await isSure(input))) return;
      setBusy(true);
      setProblem(undefined);
      await onAct(input);
    } catch (error) {
      setProblem(reasonOf(error));
    } finally {
      busy.current = false;
      setBusy(false);
    }
  }
  return { isBusy, problem, act: (input) => void act(input) };
}
