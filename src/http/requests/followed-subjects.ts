import type { PresenceEvent, RoomView } from "../../protocol/agents/rooms.ts";
import { InvalidInput } from "../../protocol/base/errors.ts";
import type { ListChange } from "../../protocol/threads/folders.ts";
import { type Cursor, parseCursor } from "../../protocol/threads/events.ts";
import type { FollowTarget } from "../../run/runs.ts";
import type { EndpointCall } from "../server/endpoint.ts";
import { createEventWriter } from "../stream/event-text.ts";
import { followUntil, runTarget } from "../stream/follow-run.ts";
import type { SseStream } from "../stream/sse.ts";

/** Where a subject tells its events: a stream of its own, or its part of one that many share. */
export type SubjectStream = Pick<SseStream, "write" | "drained"> & {
  /** Put before the id of each event. */
  readonly prefix: string;
  /** `over`: there will never be more. `again`: whoever wants more asks again from where it stands. */
  end(why: "over" | "again", events?: string): void;
};

/** What may be followed, checked; begins to tell. */
export type OpenedSubject = (stream: SubjectStream) => { close(): void };

type SubjectPlace = { readonly id: string; readonly cursor?: string | undefined };

export async function openThread(call: EndpointCall, { id, cursor }: SubjectPlace): Promise<OpenedSubject> {
  const from = cursorOf(cursor);
  const { lastSeq } = await call.services.threads.getThread(call.caller, id);
  refuseAhead(from, lastSeq);
  return (stream) => tellRuns(call, { target: { threadId: id }, from }, stream);
}

/** "over": the cursor is behind its end. */
export async function openRun(call: EndpointCall, { id, cursor }: SubjectPlace): Promise<OpenedSubject | "over"> {
  const from = cursorOf(cursor);
  const { threadId, lastSeq, first, end, resumedAt } = await call.services.runs.placeOf(call.caller, id);
  refuseAhead(from, lastSeq);
  if (end !== undefined && end <= from.seq) return "over";
  const target = runTarget({ threadId, runId: id, resumedAt });
  return (stream) => tellRuns(call, { target, from: { ...from, seq: Math.max(from.seq, first - 1) } }, stream);
}

/** Whoever follows a room is present in it. */
export async function openRoom(call: EndpointCall, { id, cursor }: SubjectPlace): Promise<OpenedSubject> {
  const from = cursorOf(cursor);
  const room = await call.services.rooms.get(call.caller, id);
  refuseAhead(from, room.lastSeq);
  return (stream) => tellRoom(call, { room, from }, stream);
}

export function openTasks({ caller, services }: EndpointCall): OpenedSubject {
  return (stream) => ({ close: services.taskList.follow(caller.userId, changeTeller(stream)) });
}

/** Which collections those are that have changed nobody is told: whoever looks at them asks again. */
export function openKnowledge({ services }: EndpointCall): OpenedSubject {
  return (stream) => ({ close: services.knowledge.followChanges(changeTeller(stream)) });
}

/** The caller's runs, or everybody's. */
export function openRuns({ caller, services }: EndpointCall, { ofAll }: { readonly ofAll: boolean }): OpenedSubject {
  return (stream) => services.runs.followChanges(ofAll ? undefined : caller.userId, changeTeller(stream));
}

export function openLists({ caller, services }: EndpointCall): OpenedSubject {
  return (stream) => ({ close: services.listChanges.follow(caller.userId, (of) => changeTeller(stream, { of })()) });
}

function changeTeller({ write, prefix }: SubjectStream, more: Partial<ListChange> = {}): () => void {
  const id = prefix === "" ? "" : `id: ${prefix}\n`;
  const data = JSON.stringify({ type: "changed", ...more });
  return () => write(`${id}data: ${data}\n\n`);
}

function cursorOf(text = "0"): Cursor {
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

type ToldPlace = { readonly target: FollowTarget; readonly from: Cursor };

function tellRuns({ request, services }: EndpointCall, { target, from }: ToldPlace, stream: SubjectStream) {
  const write = createEventWriter(from, stream.prefix);
  return followUntil(
    services.runs,
    { target, from },
    {
      events(events, cursor) {
        const text = write(events, cursor);
        const ended =
          target.runId !== undefined && events.some((event) => event.type === "run-end" && event.run === target.runId);
        if (ended) stream.end("over", text);
        else stream.write(text);
        return ended;
      },
      error(error) {
        request.log.error({ err: error }, "a thread could not be followed");
        stream.end("again");
      },
      drained: stream.drained,
    },
  );
}

function tellRoom(
  call: EndpointCall,
  { room: { id, you }, from }: { readonly room: Pick<RoomView, "id" | "you">; readonly from: Cursor },
  stream: SubjectStream,
) {
  const presence = call.services.presence.enter({ roomId: id, userId: call.caller.userId }, (people) => {
    // Let out of the room, or the room is gone.
    if (!people.some(({ handle }) => handle === you)) return stream.end("again");
    const event: PresenceEvent = { type: "presence", people };
    const place = stream.prefix === "" ? "" : `id: ${stream.prefix}\n`;
    return stream.write(`event: presence\n${place}data: ${JSON.stringify(event)}\n\n`);
  });
  const follower = tellRuns(call, { target: { threadId: id }, from }, stream);
  return {
    close() {
      follower.close();
      presence.leave();
    },
  };
}

/** Answers with a stream of one subject. */
export function streamSubject({ reply, caller, streams }: EndpointCall, open: OpenedSubject): void {
  streams.admit(reply, caller.userId);
  let subject = { close: () => {} };
  const stream = streams.open(reply, {
    onClose: () => subject.close(),
    farewell: () => ": the server stops; come back with the last id\n\n",
  });
  // so that the reader hears at once that it follows
  stream.write(": following\n\n");
  const { write, drained } = stream;
  subject = open({ write, drained, prefix: "", end: (_why, events) => stream.end(events) });
}

/** Where the reader of a stream goes on. */
export function askedCursor({ request }: Pick<EndpointCall, "request">, asked: string | undefined): string | undefined {
  const header = request.headers["last-event-id"];
  return typeof header === "string" && header !== "" ? header : asked;
}
