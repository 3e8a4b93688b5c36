import { z } from "zod";
import { InvalidInput } from "../../../protocol/base/errors.ts";
import { type Cursor, parseCursor } from "../../../protocol/threads/events.ts";
import type { FollowTarget } from "../../../run/runs.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { eventStream } from "../../shapes/event-schema.ts";
import { createEventWriter } from "../../stream/event-text.ts";
import { followUntil, runTarget } from "../../stream/follow-run.ts";
import { followedEventSchema } from "../../shapes/run-event-schema.ts";
import { idParams } from "../../shapes/schemas.ts";

const query = z.object({
  cursor: z.string().optional().describe("Cursor to continue from; the header Last-Event-ID takes precedence"),
});
const events = eventStream(
  "Events: `event` is the type, `data` the event as JSON, `id` the cursor after it",
  followedEventSchema,
);

export const followThread = endpoint({
  needs: ["threads:read", "own"],
  tag: "threads",
  summary: "Follow a thread",
  description: "Server-sent events of all its runs from a cursor on; the stream stays open.",
  params: idParams,
  query,
  answers: { 200: events },
  async handle(call) {
    const from = cursorOf(call, call.query.cursor);
    const { id, lastSeq } = await call.services.threads.getThread(call.caller, call.params.id);
    refuseAhead(from, lastSeq);
    tellEvents(call, { threadId: id }, from);
  },
});

export const followRun = endpoint({
  needs: ["threads:read", "own"],
  tag: "runs",
  summary: "Follow a run",
  description: "Server-sent events from a cursor on, until the run ends. 204: the cursor is behind its end.",
  params: idParams,
  query,
  answers: { 200: events, 204: z.null() },
  async handle(call) {
    const from = cursorOf(call, call.query.cursor);
    const { caller, services } = call;
    const runId = call.params.id;
    const { threadId, lastSeq, first, end, resumedAt } = await services.runs.placeOf(caller, runId);
    refuseAhead(from, lastSeq);
    if (end !== undefined && end <= from.seq) {
      // the status with which a browser's EventSource stops asking
      await call.reply.code(204).send();
      return;
    }
    const target = runTarget({ threadId, runId, resumedAt });
    tellEvents(call, target, { ...from, seq: Math.max(from.seq, first - 1) });
  },
});

function cursorOf({ request }: EndpointCall, asked: string | undefined): Cursor {
  const header = request.headers["last-event-id"];
  const text = (typeof header === "string" && header !== "" ? header : asked) ?? "0";
  const cursor = parseCursor(text);
  if (!cursor) throw new InvalidInput("This cursor is not valid.", { code: "invalid_cursor", param: "cursor" });
  return cursor;
}

/** A place that the log has not come to would be waited for, and all that comes before it kept back. */
function refuseAhead(from: Cursor, lastSeq: number): void {
  if (from.seq <= lastSeq) return;
  throw new InvalidInput(`This cursor is ahead of the thread, whose last seq is ${lastSeq}.`, {
    code: "invalid_cursor",
    param: "cursor",
  });
}

function tellEvents(call: EndpointCall, target: FollowTarget, from: Cursor): void {
  const { request, reply, caller, services, streams } = call;
  streams.admit(reply, caller.userId);
  const write = createEventWriter(from);
  const stream = streams.open(reply, {
    onClose: () => follower.close(),
    farewell: () => ": the server stops; come back with the last id\n\n",
  });
  // so that the reader hears at once that it follows
  stream.write(": following\n\n");
  const follower = followUntil(
    services.runs,
    { target, from },
    {
      events(events, cursor) {
        const text = write(events, cursor);
        const ended =
          target.runId !== undefined && events.some((event) => event.type === "run-end" && event.run === target.runId);
        if (ended) stream.end(text);
        else stream.write(text);
        return ended;
      },
      error(error) {
        request.log.error({ err: error }, "a thread could not be followed");
        stream.end();
      },
      drained: stream.drained,
    },
  );
}
