import { z } from "zod";
import { authorize } from "../../server/entry.ts";
import { ColloquyError } from "../../../protocol/base/errors.ts";
import { listChangeSchema } from "../../../protocol/threads/folders.ts";
import { idSchema, timeSchema } from "../../../protocol/base/shapes.ts";
import { presenceSchema } from "../../../protocol/agents/rooms.ts";
import {
  askedCursor,
  openKnowledge,
  openLists,
  openRoom,
  openRun,
  openRuns,
  openTasks,
  openThread,
  streamSubject,
  type OpenedSubject,
} from "../../requests/followed-subjects.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { eventSchema, eventStream } from "../../shapes/event-schema.ts";
import { followedEventSchema } from "../../shapes/run-event-schema.ts";
import { idParams } from "../../shapes/schemas.ts";

const cursor = z.string().optional();
const query = z.object({
  cursor: cursor.describe("Cursor to continue from; the header Last-Event-ID takes precedence"),
});
const events = eventStream(
  "Events: `event` is the type, `data` the event as JSON, `id` the cursor after it",
  followedEventSchema,
);
const ofThreads = ["threads:read", "own"] as const;

export const followThread = endpoint({
  needs: ofThreads,
  tag: "threads",
  summary: "Follow a thread",
  description: "Server-sent events of all its runs from a cursor on; the stream stays open.",
  params: idParams,
  query,
  answers: { 200: events },
  async handle(call) {
    const place = { id: call.params.id, cursor: askedCursor(call, call.query.cursor) };
    streamSubject(call, await openThread(call, place));
  },
});

export const followRun = endpoint({
  needs: ofThreads,
  tag: "runs",
  summary: "Follow a run",
  description: "Server-sent events from a cursor on, until the run ends. 204: the cursor is behind its end.",
  params: idParams,
  query,
  answers: { 200: events, 204: z.null() },
  async handle(call) {
    const opened = await openRun(call, { id: call.params.id, cursor: askedCursor(call, call.query.cursor) });
    // the status with which a browser's EventSource stops asking
    if (opened === "over") await call.reply.code(204).send();
    else streamSubject(call, opened);
  },
});

const maxSubjects = 64;
const place = { id: idSchema, cursor };
const subject = z.discriminatedUnion("of", [
  z.strictObject({ of: z.literal("thread"), ...place }),
  z.strictObject({ of: z.literal("run"), ...place }),
  z.strictObject({ of: z.literal("room"), ...place }),
  z.strictObject({ of: z.enum(["tasks", "lists", "runs", "all-runs", "knowledge"]) }),
]);
type Subject = z.output<typeof subject>;

const nth = z
  .string()
  .describe("Number of the subject in the request, from 0, and the cursor after the event, if it has one");
const refusal = z.object({ error: z.object({ code: z.string(), message: z.string(), status: z.int() }) });

export const followMany = endpoint({
  needs: ["threads:read", "threads:list", "tasks:read", "knowledge:read", "own"],
  tag: "threads",
  summary: "Follow many threads, runs and rooms over one connection",
  description:
    "Server-sent events of each subject as its own stream has them, each with the subject's number before its `id`; the " +
    "stream stays open. `tasks`, `lists` (as `/api/me/events`), `knowledge` and `runs` (for admins `all-runs`) tell only that something has changed. `over`: a subject has ended; `again`: ask again for it; `refused`: it can't be followed. To follow " +
    "others, ask anew with the cursors that you have.",
  body: z.strictObject({ subjects: z.array(subject).min(1).max(maxSubjects) }),
  answers: {
    200: eventStream(
      "Events: the first is `hello`, which says whose stream it is and what time it is at the server; `id` is the subject's number and its cursor",
      z.union([
        eventSchema(z.object({ user: z.string(), now: timeSchema.describe("The time at the server") }), "hello"),
        followedEventSchema,
        eventSchema(presenceSchema, "presence").extend({ id: nth }),
        eventSchema(listChangeSchema.partial({ of: true })).extend({ id: nth }),
        eventSchema(z.object({}), z.enum(["over", "again"])).extend({ id: nth }),
        eventSchema(refusal, "refused").extend({ id: nth }),
      ]),
    ),
  },
  async handle(call) {
    call.streams.admit(call.reply, call.caller.userId);
    const subjects = await Promise.all(call.body.subjects.map((each) => openSubject(call, each)));
    streamMany(call, subjects);
  },
});

/** Why one can't be followed is told in its place: the others can. */
async function openSubject(call: EndpointCall, asked: Subject): Promise<OpenedSubject | "over" | ColloquyError> {
  const as = (needs: Parameters<typeof authorize>[1]) => ({ ...call, caller: authorize(call.caller, needs) });
  try {
    switch (asked.of) {
      case "thread":
        return await openThread(as(ofThreads), asked);
      case "run":
        return await openRun(as(ofThreads), asked);
      case "room":
        return await openRoom(as("threads:read"), asked);
      case "tasks":
        return openTasks(as("tasks:read"));
      case "lists":
        return openLists(as("threads:list"));
      case "knowledge":
        return openKnowledge(as("knowledge:read"));
      case "runs":
        return openRuns(as("threads:list"), { ofAll: false });
      case "all-runs":
        return openRuns(as("admin:runs"), { ofAll: true });
    }
  } catch (error) {
    if (error instanceof ColloquyError) return error;
    throw error;
  }
}

function streamMany(
  { reply, caller, streams }: EndpointCall,
  subjects: readonly (OpenedSubject | "over" | ColloquyError)[],
): void {
  const open = new Set<{ close(): void }>();
  const stream = streams.open(reply, {
    onClose() {
      for (const each of open) each.close();
    },
    farewell: () => ": the server stops; come back with the cursors that you have\n\n",
  });
  const { write, drained } = stream;
  write(`event: hello\ndata: ${JSON.stringify({ user: caller.userId, now: new Date().toISOString() })}\n\n`);
  for (const [number, subject] of subjects.entries()) {
    const prefix = String(number);
    const tell = (type: string, data: unknown = {}) =>
      write(`event: ${type}\nid: ${prefix}\ndata: ${JSON.stringify(data)}\n\n`);
    if (subject === "over") tell("over");
    else if (subject instanceof ColloquyError) {
      const { code, message, status } = subject;
      tell("refused", { error: { code, message, status } });
    } else {
      let isOver = false;
      const opened = subject({
        prefix,
        write: (text) => !isOver && write(text),
        drained,
        end(why, text) {
          if (isOver) return;
          if (text !== undefined) write(text);
          isOver = true;
          tell(why);
          // While it opens nobody can close it yet.
          queueMicrotask(() => {
            opened.close();
            open.delete(opened);
          });
        },
      });
      open.add(opened);
    }
  }
}
