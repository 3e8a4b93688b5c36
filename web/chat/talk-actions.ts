import { createContext, useContext, useLayoutEffect, useMemo, useRef } from "react";
import { client } from "../page/server.ts";
import type { Turn } from "../conversation/turns.ts";

/** What can be done from within the dialogue. */
export type TalkActions = {
  /** In place of a message of before, on a branch beside it. */
  readonly edit: (text: string, instead: string) => Promise<void>;
  /** Other words for a message, without a new answer. */
  readonly saveEdit: (text: string, instead: string) => Promise<void>;
  /** `model`: instead of the one that is chosen. */
  readonly answerAgain: (message: string, model?: string) => Promise<void>;
  /** The branch that ends in this turn. */
  readonly show: (turn: string) => void;
  /** Another conversation that begins with what was said up to here. */
  readonly fork: (turn: Turn) => Promise<void>;
};

type Talk = TalkActions & {
  /** The run that failed or was stopped goes on. */
  readonly resume: (run: string) => Promise<unknown>;
  /** Whether something works here now, or waits for somebody, so that the branch stays as it is. */
  readonly isBusy: boolean;
  /** It works, and waits for nobody. */
  readonly isRunning: boolean;
};

const nothing = () => Promise.resolve();

export const TalkContext = createContext<Talk>({
  edit: nothing,
  saveEdit: nothing,
  answerAgain: nothing,
  show: () => undefined,
  fork: nothing,
  resume: nothing,
  isBusy: false,
  isRunning: false,
});

export const useTalk = () => useContext(TalkContext);

/** The same object as long as nothing else is to be shown: a new one would have all turns rendered with every word that comes. */
export function useStableTalk(talk: TalkActions, { isBusy, isRunning }: Pick<Talk, "isBusy" | "isRunning">): Talk {
  const latest = useRef(talk);
  useLayoutEffect(() => {
    latest.current = talk;
  });
  return useMemo(
    () => ({
      edit: (text, instead) => latest.current.edit(text, instead),
      saveEdit: (text, instead) => latest.current.saveEdit(text, instead),
      answerAgain: (message, model) => latest.current.answerAgain(message, model),
      show: (turn) => latest.current.show(turn),
      fork: (turn) => latest.current.fork(turn),
      resume: (run) => client.resume(run),
      isBusy,
      isRunning,
    }),
    [isBusy, isRunning],
  );
}

/** The last item of the log that stands in a turn. */
export function lastItemOf({ blocks }: Turn): string | undefined {
  const last = blocks.findLast((block) => block.kind === "message" && block.item !== undefined);
  return last?.kind === "message" ? last.item?.id : undefined;
}
