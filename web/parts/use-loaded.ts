import { useEffect, useRef, useState } from "react";
import { reasonOf } from "../page/server.ts";

export type LoadState<Answer> = {
  /** Undefined until it is there; while it is asked for again, what it was. */
  readonly data: Answer | undefined;
  readonly problem: string | undefined;
  readonly reload: () => void;
};

/** What the server answers, asked again whenever `key` changes. */
export function useLoaded<Answer>(key: string, load: (signal: AbortSignal) => Promise<Answer>): LoadState<Answer> {
  const [state, setState] = useState<{ readonly data?: Answer; readonly problem?: string }>({});
  const newest = useRef(load);
  newest.current = load;
  const again = useRef(() => {});
  useEffect(() => {
    const stop = new AbortController();
    let isAsking = false;
    let isStale = false;
    // What is on its way is waited for: a server that answers slower than it is asked again would never be heard.
    const ask = async (): Promise<void> => {
      isStale = isAsking;
      if (isAsking) return;
      isAsking = true;
      try {
        const data = await newest.current(stop.signal);
        if (!stop.signal.aborted) setState({ data });
      } catch (error) {
        if (!stop.signal.aborted) setState(({ data }) => ({ data, problem: reasonOf(error) }));
      }
      isAsking = false;
      if (isStale && !stop.signal.aborted) await ask();
    };
    again.current = () => void ask();
    void ask();
    return () => stop.abort();
  }, [key]);
  const reload = useRef(() => again.current());
  return { data: state.data, problem: state.problem, reload: reload.current };
}
