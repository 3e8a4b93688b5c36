import type { Cursor, RunEvent } from "../../protocol/threads/events.ts";
import type { FollowSink, FollowTarget, Runs } from "../../run/runs.ts";

export type Following = {
  /** Takes a batch; true when nothing more is wanted. */
  readonly events: (events: readonly RunEvent[], cursor: () => Cursor) => boolean;
  readonly error: (error: unknown) => void;
  readonly drained?: FollowSink["drained"];
};

/** A run from where it stands now: an end that it was resumed after is none. */
export function runTarget({ threadId, runId, resumedAt }: Omit<FollowTarget, "runId"> & { readonly runId: string }) {
  return { threadId, runId, ...(resumedAt !== undefined && { resumedAt }) };
}

/** Follows until told enough, whether the first events come before `follow` returns or later. */
export function followUntil(
  runs: Runs,
  place: { target: FollowTarget; from: Cursor },
  following: Following,
): { close(): void } {
  let over = false;
  // until `follow` returns there is nothing to close
  let follower = { close: () => {} };
  const close = () => {
    over = true;
    follower.close();
  };
  follower = runs.follow(place.target, place.from, {
    events(events, cursor) {
      if (!over && following.events(events, cursor)) close();
    },
    error(error) {
      if (over) return;
      close();
      following.error(error);
    },
    ...(following.drained && { drained: following.drained }),
  });
  if (over) follower.close();
  return { close };
}
