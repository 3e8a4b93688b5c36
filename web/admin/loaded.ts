import { useEffect, useState } from "react";
import { reasonOf } from "../server.ts";

export type Loaded<Answer> = {
  /** Undefined until it is there; while it is asked for again, what it was. */
  readonly data: Answer | undefined;
  readonly problem: string | undefined;
  readonly reload: () => void;
};

/** What the server answers, asked again whenever `key` changes. */
export function useLoaded<Answer>(key: string, load: (signal: AbortSignal) => Promise<Answer>): Loaded<Answer> {
  const [state, setState] = useState<{ readonly data?: Answer; readonly problem?: string }>({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    load(stop.signal).then(
      (data) => !stop.signal.aborted && setState({ data }),
      (error: unknown) => {
        if (!stop.signal.aborted) setState(({ data }) => ({ data, problem: reasonOf(error) }));
      },
    );
    return () => stop.abort();
  }, [key, round]);
  return { data: state.data, problem: state.problem, reload: () => setRound((before) => before + 1) };
}
