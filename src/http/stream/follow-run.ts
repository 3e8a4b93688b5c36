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
 * The same for an answer that is told whole, until `events` says that it is enough. Rejects if the server stops or whoever
 * asked has left: the run goes on.
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

/** A run from where it stands now: an end that it was resumed after is none. */
export function runTarget({ threadId, runId, resumedAt }: Omit<FollowTarget, "runId"> & { readonly runId: string }) {
  return { threadId, runId, ...(resumedAt !== undefined && { resumedAt }) };
}

/** Follows until told enough, whether the first events come before `follow` returns or later. */
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
