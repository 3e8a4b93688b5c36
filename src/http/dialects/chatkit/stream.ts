import { messageOf } from "../../../protocol/errors.ts";
import type { Call } from "../../endpoint.ts";
import { followUntil } from "../../follow-run.ts";
import { serverStops } from "../../run-errors.ts";
import { createRunWatch } from "../../watch-run.ts";
import type { Begun } from "./begun.ts";
import { sseOf } from "./stream-events.ts";
import { createTeller } from "./tell-run.ts";

/** Tells a run until it ends or waits. A closed connection ends the telling, never the run. */
export function streamRun({ request, reply, services, streams }: Call, { first, run }: Begun): undefined {
  if (!run) {
    streams.open(reply).end(sseOf(first));
    return;
  }
  const { runId, threadId, cursor, pending } = run;
  reply.header("x-colloquy-run", runId).header("x-colloquy-thread", threadId);
  const watch = createRunWatch(runId, pending);
  const tell = createTeller(run);
  const stream = streams.open(reply, {
    onClose: () => follower.close(),
    farewell: () => errorText(serverStops(runId).message),
    refusal: ({ message }) => errorText(message),
  });
  stream.write(sseOf(first));
  // Behind another run its thread is followed, since that one may have to wait for a person.
  const place = { target: pending ? { threadId } : { threadId, runId }, from: cursor };
  const follower = followUntil(services.runs, place, {
    events(batch) {
      const { events, ended } = tell(watch(batch));
      const text = sseOf(events);
      if (ended) stream.end(text);
      else if (text !== "") stream.write(text);
      return ended;
    },
    error(error) {
      request.log.error({ err: error }, "a run could not be followed: " + messageOf(error));
      stream.end(errorText("The run could not be followed; it goes on."));
    },
    drained: stream.drained,
  });
}

/** Not to be tried again: the run goes on. */
function errorText(message: string): string {
  return sseOf([{ type: "error", code: "custom", message, allow_retry: false }]);
}
