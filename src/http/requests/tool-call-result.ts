import { ColloquyError } from "../../protocol/base/errors.ts";
import type { ItemOf } from "../../protocol/threads/items.ts";
import type { RunStart } from "../../run/runs.ts";
import type { EndpointCall } from "../server/endpoint.ts";
import { followUntil, runTarget } from "../stream/follow-run.ts";
import { whenClosed } from "../stream/sse.ts";

/** As long as most proxies let a request wait; then the run is answered, which goes on. */
export const usualWaitMs = 55_000;

/** The call's result once the run has ended; undefined if it waits, or takes too long for one request. */
export async function resultOfCall(
  { reply, services, streams }: Pick<EndpointCall, "reply" | "services" | "streams">,
  started: RunStart,
  longestMs = usualWaitMs,
): Promise<ItemOf<"result"> | undefined> {
  let close = () => {};
  try {
    return await new Promise<ItemOf<"result"> | undefined>((resolve, reject) => {
      let result: ItemOf<"result"> | undefined;
      const follower = followUntil(
        services.runs,
        { target: runTarget(started), from: started.cursor },
        {
          events(events) {
            for (const event of events) if (event.type === "call-end") result = event.item;
            // What follows a wait in the same batch has brought the run past it.
            const last = events.at(-1)?.type;
            if (last === "run-end" || last === "run-wait") resolve(result);
            return last === "run-end" || last === "run-wait";
          },
          error: reject,
        },
      );
      const timer = setTimeout(() => resolve(undefined), longestMs);
      streams.whenStopped(reply.raw, () => resolve(undefined));
      close = () => {
        clearTimeout(timer);
        follower.close();
      };
      whenClosed(reply.raw, () =>
        reject(new ColloquyError("closed", 499, "The connection was closed; the run continues.")),
      );
    });
  } finally {
    close();
  }
}
