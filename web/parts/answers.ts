import { keepPreviousData, type QueryKey, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { queries } from "../page/queries.ts";
import { reasonOf } from "../page/server.ts";
import { onChange } from "../stream/changes.ts";

export type AnswerState<Answer> = {
  /** Undefined until it is there; while it is asked for again, what it was. */
  readonly data: Answer | undefined;
  readonly problem: string | undefined;
  readonly reload: () => void;
};

type AnswerOptions<Answer> = {
  /** Of what no events tell: how often it is looked up again, while somebody looks. */
  readonly everyMs?: (answer: Answer | undefined) => number | false;
};

/** What the server answers, asked for again when the key changes. Keys begin with what it is about: `["admin", "users"]`. */
export function useAnswer<Answer>(
  key: QueryKey,
  load: (signal: AbortSignal) => Promise<Answer>,
  { everyMs }: AnswerOptions<Answer> = {},
): AnswerState<Answer> {
  const { data, error } = useQuery({
    queryKey: key,
    queryFn: ({ signal }) =>
      load(signal).catch((cause: unknown) => {
        throw new Error(reasonOf(cause), { cause });
      }),
    // What was read before is shown at once, and read again.
    staleTime: 0,
    gcTime: 60_000,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    refetchInterval: ({ state }) => everyMs?.(state.data) ?? false,
  });
  return { data, problem: error?.message, reload: () => void refresh(key) };
}

/** Asks again for all that is shown whose keys begin so; what is not shown, when it is. */
export function refresh(key: QueryKey): Promise<void> {
  return queries.invalidateQueries({ queryKey: key });
}

/**
 * Like `refresh`, for what may happen again and again: what is on its way is waited for, or a slow server would never be heard.
 * A tab that nobody sees looks when it is seen.
 */
export async function refreshAfter(key: QueryKey): Promise<void> {
  if (document.hidden) await becomesVisible();
  const underWay = queries.getQueryCache().findAll({ queryKey: key, fetchStatus: "fetching" });
  await Promise.allSettled(underWay.map(({ promise }) => promise));
  await refresh(key);
}

function becomesVisible(): Promise<void> {
  return new Promise((resolve) => {
    document.addEventListener("visibilitychange", () => resolve(), { once: true });
  });
}

/** While the page of somebody who is logged in is shown, what was read is read again when the server tells that it has changed. */
export function useFollowedAnswers(): void {
  useEffect(() => {
    const stops = [
      onChange("runs", () => {
        // Runs are begun by schedules too.
        for (const key of [["runs"], ["schedules"]]) void refreshAfter(key);
      }),
      onChange("tasks", () => void refreshAfter(["tasks"])),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, []);
}
