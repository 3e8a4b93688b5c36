import { ColloquyError } from "../../src/protocol/base/errors.ts";
import type { ServerAccess } from "../../src/client/request.ts";
import { followMany } from "./many-events.ts";
import type { StreamError, Subject, ToTab } from "./stream-messages.ts";

/** What one tab follows, and how far it has been told. */
export type Subscription = {
  readonly id: number;
  readonly subject: Subject;
  cursor: string | undefined;
  /** It is told of changes, so that a new connection need not say again that there may have been some. */
  isCurrent?: boolean;
  readonly tell: (message: ToTab) => void;
};

/** One connection, for all that is followed with one login. */
export type Line = {
  /** So many subjects, each from a place of its own. */
  readonly size: () => number;
  readonly isConnected: () => boolean;
  readonly user: () => string | undefined;
  readonly add: (subscription: Subscription) => void;
  readonly remove: (subscription: Subscription) => void;
  /** Looks at once whether there is still a connection. */
  readonly look: () => void;
};

type LineListeners = {
  readonly onConnection: (isConnected: boolean) => void;
  readonly onUser: (user: string, now: string) => void;
};

/** What begins together, as after a reload, is asked for together. */
const joinMs = 10;
const leaveMs = 500;
const firstPauseMs = 250;
const longestPauseMs = 5000;
/** Where the network may be gone, a connection that is not there by now is lost. */
const doubtMs = 1000;

/**
 * Whoever comes or goes makes a new connection, which goes on where each stands; the one before is read no more from then on, so
 * that nothing is told twice, and closed when the new one is there, so that nobody seems to leave a room. Subscriptions that
 * stand at the same place of the same subject share its events.
 */
export function createLine(server: ServerAccess, { onConnection, onUser }: LineListeners): Line {
  const subscriptions = new Set<Subscription>();
  let current: AbortController | undefined;
  const { isConnected, note, doubtNow } = createConnectionState(onConnection);
  let user: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let dueAt = Infinity;
  let pauseMs = firstPauseMs;
  const connectIn = (ms: number) => {
    const at = performance.now() + ms;
    if (at >= dueAt) return;
    dueAt = at;
    clearTimeout(timer);
    timer = setTimeout(() => void connect(), ms);
  };

  async function connect(): Promise<void> {
    dueAt = Infinity;
    const before = current;
    if (subscriptions.size === 0) {
      current = undefined;
      // Of what nobody follows nobody need be told that it is lost.
      note(true);
      return before?.abort();
    }
    const mine = new AbortController();
    current = mine;
    const groups = [...Map.groupBy(subscriptions, placeOf).values()];
    const places = groups.map(([first]) => first!);
    const said = createRepeats(subscriptions);
    try {
      for await (const { type, data, number, cursor } of followMany(server, places, mine.signal)) {
        before?.abort();
        const isChange = type === "message";
        // Of a change nobody counts the place: until the new connection is there, this one tells.
        if (current !== mine && !isChange) continue;
        pauseMs = firstPauseMs;
        if (type === "hello") {
          note(true);
          const told = JSON.parse(data) as { user: string; now: string };
          ({ user } = told);
          onUser(user, told.now);
          for (const each of groups.flat()) each.isCurrent = true;
        } else if (type === "denied") refuseAll((JSON.parse(data) as { error: StreamError }).error, 401);
        else {
          const group = groups[number] ?? [];
          tellGroup(isChange ? group.filter((each) => !said.isRepeat(each, data)) : group, { type, data, cursor });
        }
      }
      // A server that stops says so by the end.
      if (current === mine) await lost();
    } catch (error) {
      before?.abort();
      if (current !== mine || mine.signal.aborted) return;
      current = undefined;
      // What was told before it is heard again is not known.
      for (const each of subscriptions) each.isCurrent = false;
      // The one before was the last that there was room for.
      if (before && error instanceof ColloquyError && error.code === "too_many_streams") return connectIn(firstPauseMs);
      if (error instanceof ColloquyError && isFinal(error)) refuseAll(error, error.status);
      else await lost();
    }
  }

  async function lost(): Promise<void> {
    note(false);
    for (const each of subscriptions) each.isCurrent = false;
    const ms = pauseMs;
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    connectIn(ms);
  }

  function tellGroup(group: readonly Subscription[], event: LineEvent) {
    const { type } = event;
    for (const each of group)
      if (subscriptions.has(each)) {
        if (type === "over" || type === "refused") subscriptions.delete(each);
        tellOne(each, event);
      }
    // Those that came in the middle of an answer stand where the others stand once it has ended.
    const isOneOfMany = type === "run-end" && [...subscriptions].some((each) => isBeside(each, group));
    if (type === "again") connectIn(firstPauseMs);
    else if (isOneOfMany) connectIn(leaveMs);
  }

  function refuseAll({ code, message }: Pick<StreamError, "code" | "message">, status: number): void {
    for (const { id, tell } of subscriptions) tell({ type: "refused", id, error: { code, message, status } });
    subscriptions.clear();
  }

  return {
    size: () => new Set([...subscriptions].map(placeOf)).size,
    isConnected,
    user: () => user,
    add(subscription) {
      subscriptions.add(subscription);
      connectIn(joinMs);
    },
    remove(subscription) {
      if (subscriptions.delete(subscription)) connectIn(subscriptions.size === 0 ? joinMs : leaveMs);
    },
    look() {
      if (subscriptions.size === 0) return;
      pauseMs = firstPauseMs;
      // Of what a connection told that may be dead, nothing is known since.
      for (const each of subscriptions) each.isCurrent = false;
      doubtNow();
      connectIn(0);
    },
  };
}

/** Not what may be over in a moment: an outage, or too many requests. */
function isFinal({ status, code }: ColloquyError): boolean {
  return status < 500 && (status !== 429 || code === "too_many_streams");
}

type LineEvent = { readonly type: string; readonly data: string; readonly cursor: string | undefined };

function tellOne(subscription: Subscription, { type, data, cursor }: LineEvent): void {
  const { id, tell } = subscription;
  if (type === "over") tell({ type, id });
  else if (type === "refused") tell({ type, id, error: (JSON.parse(data) as { error: StreamError }).error });
  else if (type !== "again") {
    subscription.cursor = cursor ?? subscription.cursor;
    tell({ type: "event", id, data, cursor: subscription.cursor });
  }
}

function createConnectionState(onConnection: (isConnected: boolean) => void) {
  let isConnected = true;
  let doubt: ReturnType<typeof setTimeout> | undefined;
  const note = (connected: boolean) => {
    clearTimeout(doubt);
    if (connected === isConnected) return;
    isConnected = connected;
    onConnection(connected);
  };
  return {
    isConnected: () => isConnected,
    note,
    doubtNow() {
      clearTimeout(doubt);
      doubt = setTimeout(() => note(false), doubtMs);
    },
  };
}

/** What a connection tells at its beginning, of each kind once, whoever was told by the one before knows. */
function createRepeats(subscriptions: ReadonlySet<Subscription>) {
  const knowing = new Map(
    [...subscriptions].filter(({ isCurrent }) => isCurrent).map((each) => [each, new Set<string>()]),
  );
  return {
    isRepeat(each: Subscription, data: string): boolean {
      const known = knowing.get(each);
      if (!known || known.has(data)) return false;
      known.add(data);
      return true;
    },
  };
}

function placeOf({ subject, cursor }: Subscription): string {
  return JSON.stringify([subject, cursor]);
}

/** Whether it has come to the same place as a group that it is not in. */
function isBeside(each: Subscription, group: readonly Subscription[]): boolean {
  const [first] = group;
  return first !== undefined && !group.includes(each) && placeOf(each) === placeOf(first);
}
