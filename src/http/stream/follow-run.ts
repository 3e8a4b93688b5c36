import type { FastifyReply } from "fastify";
import { ColloquyError } from "../../protocol/base/errors.ts";
import { serverStops } from "./run-errors.ts";
import { type SseStreams, whenClosed } from "./sse.ts";
import type { Cursor, RunEvent } from "../../protocol/threads/events.ts";
import type { FollowSink, FollowTarget, Runs } from "../../run/runs.ts";

export type FollowHandlers = {
  /** Takes a batch; true when nothing more is wanted. */
  readonly events: (events: readonly RunEvent[], cursor: () => Cursor) => boolean;
  readonly error: (error: unknown) => void;
  readonly drained?: FollowSink["drained"];
};

type FollowDeps = {
  readonly services: { readonly runs: Runs };
  readonly reply: FastifyReply;
  readonly streams: Pick<SseStreams, "whenStopped">;
};

/**
 * Follows for an answer that is sent in one piece: resolves when `events` returns true. Rejects if the server stops or the
 * client disconnects; the run continues.
 */
export function followUntilEnough(
  { services, reply, streams }: FollowDeps,
  run: string,
  place: Parameters<typeof followUntil>[1],
  events: FollowHandlers["events"],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const follower = followUntil(services.runs, place, {
      events(batch, cursor) {
        const isOver = events(batch, cursor);
        if (isOver) resolve();
        return isOver;
      },
      error: reject,
    });
    const leave = (error: ColloquyError) => {
      follower.close();
      reject(error);
    };
    streams.whenStopped(reply.raw, () => leave(serverStops(run)));
    whenClosed(reply.raw, () =>
      leave(new ColloquyError("closed", 499, "The connection was closed; the run continues.")),
    );
  });
}

/** Target for following a run. A run that was resumed after its end is followed to its new end: `resumedAt` skips the old one. */
export function runTarget({ threadId, runId, resumedAt }: Omit<FollowTarget, "runId"> & { readonly runId: string }) {
  return { threadId, runId, ...(resumedAt !== undefined && { resumedAt }) };
}

/** Follows until `events` returns true. The first events may arrive before `follow` returns. */
export function followUntil(
  runs: Runs,
  place: { target: FollowTarget; from: Cursor },
  following: FollowHandlers,
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
