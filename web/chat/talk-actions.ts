import { createContext, useContext, useMemo, useRef } from "react";
import { client } from "../page/server.ts";
import type { Turn } from "../conversation/turns.ts";

/** What can be done from within the dialogue, beside what assistant-ui does itself. */
export type TalkActions = {
  /** Another conversation that begins with what was said up to here. */
  readonly fork: (turn: Turn) => Promise<void>;
  /** Other words for a message, without a new answer. */
  readonly saveEdit: (text: string, instead: string) => Promise<void>;
  /** The run that failed or was stopped goes on. */
  readonly resume: (run: string) => Promise<unknown>;
  /** Whether something works here now, so that the branch stays as it is. */
  readonly isBusy: boolean;
};

export const TalkContext = createContext<TalkActions>({
  fork: () => Promise.resolve(),
  saveEdit: () => Promise.resolve(),
  resume: () => Promise.resolve(),
  isBusy: false,
});

export const useTalk = () => useContext(TalkContext);

/** The same object as long as nothing else is to be shown: a new one would have all turns rendered with every word that comes. */
export function useStableCallback(
  { fork, saveEdit }: Pick<TalkActions, "fork" | "saveEdit">,
  isBusy: boolean,
): TalkActions {
  const latest = useRef({ fork, saveEdit });
  latest.current = { fork, saveEdit };
  return useMemo(
    () => ({
      fork: (turn) => latest.current.fork(turn),
      saveEdit: (text, instead) => latest.current.saveEdit(text, instead),
      resume: (run) => client.resume(run),
      isBusy,
    }),
    [isBusy],
  );
}

/** The last item of the log that stands in a turn. */
export function lastItemOf({ blocks }: Turn): string | undefined {
  const last = blocks.findLast((block) => block.kind === "message" && block.item !== undefined);
  return last?.kind === "message" ? last.item?.id : undefined;
}
