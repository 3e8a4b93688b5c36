import type { EventWithCursor } from "../../src/client/events.ts";
import { ColloquyError } from "../../src/protocol/base/errors.ts";
import { isShownTo } from "../page/person.ts";
import { steadyNow } from "../browser/steady-clock.ts";
import { noteServerTime } from "../browser/server-time.ts";
import { openPort, portWorks, type TabPort } from "./tab-port.ts";
import type { Subject, SubjectPlace, ToTab } from "./stream-messages.ts";

export type StreamOptions = {
  readonly cursor?: string;
  readonly signal: AbortSignal;
  /** Called when the connection is lost, and when it is back. */
  readonly onConnection?: (isConnected: boolean) => void;
};

type FollowedSubject = {
  readonly subject: Subject;
  /** Of the last event that is in `events`, or was. */
  cursor: string | undefined;
  readonly events: EventWithCursor<unknown>[];
  end?: "over" | ColloquyError;
  readonly wake: () => void;
  readonly onConnection: ((isConnected: boolean) => void) | undefined;
};

const hereMs = 3000;
/** The hub says as often that it is there. */
const silentMs = 10_000;

/** By the number under which the hub knows them, which is new whenever it is told of them: of what it was told before nothing counts. */
const followed = new Map<number, FollowedSubject>();
let count = 0;
let port: TabPort | undefined;
let heardAt = 0;
let isConnected = true;
let user: string | undefined;

/** Events of a subject until the signal fires or there are no more, over the one connection of this browser. */
export async function* follow<Event>(
  subject: Subject,
  { cursor, signal, onConnection }: StreamOptions,
): AsyncGenerator<EventWithCursor<Event>> {
  let wake = () => {};
  const mine: FollowedSubject = { subject, cursor, events: [], wake: () => wake(), onConnection };
  const stop = () => wake();
  signal.addEventListener("abort", stop);
  if (!isConnected) onConnection?.(false);
  subscribe(mine);
  try {
    while (!signal.aborted) {
      const next = mine.events.shift();
      if (next) yield next as EventWithCursor<Event>;
      else if (mine.end === "over") return;
      else if (mine.end) throw mine.end;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal.removeEventListener("abort", stop);
    unsubscribe(mine);
  }
}

/** Something has changed that the connection may not know of: the login, the network. */
export function lookAtConnection(): void {
  port?.tell({ type: "look" });
}

function subscribe(each: FollowedSubject): void {
  if (!port) return attach(each);
  const id = ++count;
  followed.set(id, each);
  const { subject, cursor } = each;
  port.tell({ type: "follow", id, subject, cursor } satisfies { type: "follow"; id: number } & SubjectPlace);
}

function unsubscribe(mine: FollowedSubject): void {
  for (const [id, each] of followed)
    if (each === mine) {
      followed.delete(id);
      port?.tell({ type: "leave", id });
    }
}

/** To a hub, maybe another one: each goes on where it stands. */
function attach(...more: readonly FollowedSubject[]): void {
  port?.close();
  const all = [...followed.values(), ...more];
  followed.clear();
  heardAt = Date.now();
  port = openPort(hear, () => attach());
  for (const each of all) if (!each.end) subscribe(each);
}

function hear(message: ToTab): void {
  heardAt = Date.now();
  switch (message.type) {
    case "event": {
      const each = followed.get(message.id);
      if (!each) return;
      each.cursor = message.cursor;
      each.events.push({ event: JSON.parse(message.data) as unknown, cursor: message.cursor ?? "0" });
      return each.wake();
    }
    case "over":
      return end(message.id, "over");
    case "refused": {
      const { code, status, message: text } = message.error;
      return end(message.id, new ColloquyError(code, status, text));
    }
    case "connection":
      return noteConnection(message.isConnected);
    case "user":
      noteConnection(true);
      noteServerTime(message.now, steadyNow() - message.at);
      // Somebody else has logged in, in another tab: what is shown here is not theirs.
      if (user !== undefined && user !== message.user && !isShownTo(message.user)) location.reload();
      user = message.user;
      return;
    case "dropped":
      return attach();
    case "here":
      return portWorks();
  }
}

function end(id: number, why: "over" | ColloquyError): void {
  const each = followed.get(id);
  followed.delete(id);
  if (!each) return;
  each.end = why;
  each.wake();
}

function noteConnection(connected: boolean): void {
  if (connected === isConnected) return;
  isConnected = connected;
  for (const { onConnection } of followed.values()) onConnection?.(connected);
}

let isSilent = false;
setInterval(() => {
  if (!port) return;
  port.tell({ type: "here" });
  // Twice: of a tab that was frozen the clock may come before what it was told.
  const wasSilent = isSilent;
  isSilent = Date.now() - heardAt > silentMs;
  if (wasSilent && isSilent) attach();
}, hereMs);

for (const name of ["online", "offline"]) addEventListener(name, lookAtConnection);
// A page that is kept for going back to it holds no stream.
addEventListener("pagehide", () => {
  port?.close();
  port = undefined;
});
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) attach();
});
