import { useEffect, useRef, useState } from "react";
import type { RunDetailsView } from "../../src/protocol/threads/run-trace.ts";
import { isEnded } from "../../src/protocol/threads/runs.ts";
import { useMe } from "../page/me.ts";
import { refreshAfter, useAnswer } from "../parts/answers.ts";
import type { RunEvent } from "../../src/protocol/threads/events.ts";
import { follow } from "../stream/follow.ts";
import { runsInside } from "../run-list/runs-client.ts";

const soonMs = 400;
const pollMs = 2000;

export type LoadedRun = {
  readonly data: RunDetailsView | undefined;
  readonly problem: string | undefined;
  readonly reload: () => void;
  /** How far the server's clock is ahead of this one's. */
  readonly aheadMs: number;
};

/**
 * A run from inside, kept up to date until its end: after each of its events, and by asking again where there are none to
 * follow, as of what it delegated or of somebody else's.
 */
export function useRun(id: string, limit: number | undefined): LoadedRun {
  const lastSeq = useRef(0);
  const tookMs = useRef(0);
  const loaded = useAnswer(["run", id, limit], async (signal) => {
    const askedAt = Date.now();
    const data = await runsInside.details(id, limit, signal);
    tookMs.current = Date.now() - askedAt;
    lastSeq.current = Math.max(0, ...data.items.filter((item) => item.runId === id).map(({ seq }) => seq));
    return { data, aheadMs: Date.parse(data.now) - Date.now() };
  });
  const { reload, problem } = loaded;
  const me = useMe();
  const shown = loaded.data?.data;
  const isLive = shown !== undefined && !isEnded(shown.run.status);
  const isMine = shown !== undefined && me?.id === shown.run.userId;
  const hasBelow = shown?.runs.slice(1).some(({ status }) => !isEnded(status)) ?? false;

  useEffect(() => {
    if (!isLive) return;
    const stop = new AbortController();
    let soon: number | undefined;
    const again = () => {
      soon ??= window.setTimeout(
        () => {
          soon = undefined;
          void refreshAfter(["run", id]);
          // A large run on a slow line is not asked for all the time.
        },
        Math.max(soonMs, 3 * tookMs.current),
      );
    };
    let isFollowed = isMine;
    const listen = async () => {
      const from = { cursor: String(lastSeq.current), signal: stop.signal };
      for await (const { event } of follow<RunEvent>({ of: "run", id }, from))
        if ("seq" in event || event.type === "step-start" || event.type === "step-retry") again();
      again();
    };
    if (isMine)
      void listen()
        // What the poll finds stands in place of what can't be followed.
        .catch(() => undefined)
        .then(() => (isFollowed = false));
    const poll = setInterval(() => (!isFollowed || hasBelow) && !document.hidden && again(), pollMs);
    return () => {
      stop.abort();
      clearTimeout(soon);
      clearInterval(poll);
    };
  }, [id, isLive, isMine, hasBelow]);

  return { data: shown, problem, reload, aheadMs: loaded.data?.aheadMs ?? 0 };
}

/** The server's time, told anew while something goes on. */
export function useNow(isLive: boolean, aheadMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    if (!isLive) return;
    const timer = setInterval(() => !document.hidden && setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [isLive]);
  return now + aheadMs;
}
