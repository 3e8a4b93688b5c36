import type { Cursor, Retry, RunEvent } from "../../protocol/threads/events.ts";
import type { Item } from "../../protocol/threads/items.ts";
import type { Delta, DeltaKind } from "./deltas.ts";
import { isNested } from "./fold.ts";
import type { FollowSink, FollowTarget } from "../runs.ts";

type TextPiece = { readonly offset: number; text: string };
type TextDelta = Extract<RunEvent, { type: `${DeltaKind}-delta` }>;

/** A message that is being written: everything of the attempt so far. */
export type LiveMessage = {
  readonly run: string;
  readonly step: string;
  readonly attempt: number;
  /** `<run>/<step>` */
  readonly key: string;
  text: string;
  reasoning: string;
  /** Why the previous attempt failed. */
  readonly retry?: Retry;
  /** What has come since its followers were last told. */
  readonly untold: { [Kind in DeltaKind]?: TextPiece };
  /** What is stored of this kind goes on behind what is known: it must be read from its beginning. */
  readonly gaps: { [Kind in DeltaKind]?: boolean };
};

type DeltaPosition = { readonly run: string; readonly step: string; attempt: number; text: number; reasoning: number };

/** One reader's position in a thread, and the sink for what it has not received. */
export type Follower = {
  seq: number;
  /** Whether it has caught up, and receives changes as they happen. */
  ready: boolean;
  readonly run: string | undefined;
  /** `seq` at which that run was last resumed. */
  readonly resumedAt: number;
  readonly sink: FollowSink;
  readonly sent: Map<string, DeltaPosition>;
  readonly cursor: () => Cursor;
};

export function createFollower(target: FollowTarget, from: Cursor, sink: FollowSink): Follower {
  const sent = new Map<string, DeltaPosition>();
  for (const { run, step, attempt, text, reasoning } of from.live)
    sent.set(`${run}/${step}`, { run, step, attempt, text, reasoning });
  const follower: Follower = {
    seq: from.seq,
    ready: false,
    run: target.runId,
    resumedAt: target.resumedAt ?? 0,
    sink,
    sent,
    cursor: () => ({ seq: follower.seq, live: [...sent.values()].map((place) => ({ ...place })) }),
  };
  return follower;
}

/** Events of items, by item: what more than one follower is told is made and encoded once. */
export type ItemEvents = Map<Item, RunEvent>;

export function sendItems(follower: Follower, items: readonly Item[], made?: ItemEvents): void {
  const events: RunEvent[] = [];
  for (const item of items) {
    if (item.seq <= follower.seq) continue;
    follower.seq = item.seq;
    if (follower.run === undefined || item.runId === follower.run) itemEvents(follower, item, events, made);
  }
  if (events.length > 0) follower.sink.events(events, follower.cursor);
}

export function addUntold(
  { untold }: LiveMessage,
  { kind, offset, text }: Pick<Delta, "kind" | "offset" | "text">,
): void {
  const piece = untold[kind];
  if (piece && piece.offset + piece.text.length === offset) piece.text += text;
  else untold[kind] = { offset, text };
}

/** Sends to all what is untold of a live message: one event for all of them, so that it is encoded once. */
export function sendUntold(followers: ReadonlySet<Follower>, live: LiveMessage): void {
  const { run, step, attempt, untold } = live;
  const deltas: TextDelta[] = [];
  for (const kind of kinds) {
    const piece = untold[kind];
    if (piece) deltas.push({ type: `${kind}-delta`, run, step, attempt, ...piece });
    delete untold[kind];
  }
  for (const follower of followers) if (follower.ready) sendLiveMessage(follower, live, deltas);
}

/** Sends what the follower has not received of a live message. `deltas`: what has come last, if that may be all that is missing. */
export function sendLiveMessage(follower: Follower, live: LiveMessage, deltas: readonly TextDelta[] = []): void {
  if (follower.run !== undefined && live.run !== follower.run) return;
  const events: RunEvent[] = [];
  const place = deltaPosition(follower, live, events);
  for (const delta of deltas) {
    const kind = kindOf(delta);
    if (delta.offset !== place[kind]) continue;
    place[kind] += delta.text.length;
    events.push(delta);
  }
  remainder(place, live, events);
  if (events.length > 0) follower.sink.events(events, follower.cursor);
}

const kinds = ["reasoning", "text"] as const;

function kindOf({ type }: TextDelta): DeltaKind {
  return type === "text-delta" ? "text" : "reasoning";
}

function deltaPosition(
  follower: Follower,
  live: Omit<LiveMessage, DeltaKind | "untold" | "gaps">,
  events: RunEvent[],
): DeltaPosition {
  const { run, step, attempt, key, retry } = live;
  const place = follower.sent.get(key);
  if (place?.attempt === attempt) return place;
  if (place || retry)
    events.push({ type: "step-retry", run, step, attempt: place?.attempt ?? attempt - 1, ...(retry ? { retry } : {}) });
  const fresh: DeltaPosition = { run, step, attempt, text: 0, reasoning: 0 };
  follower.sent.set(key, fresh);
  events.push({ type: "step-start", run, step, attempt });
  return fresh;
}

function remainder(place: DeltaPosition, live: Pick<LiveMessage, DeltaKind>, events: RunEvent[]): void {
  const { run, step, attempt } = place;
  for (const kind of kinds) {
    const offset = place[kind];
    if (live[kind].length <= offset) continue;
    events.push({ type: `${kind}-delta`, run, step, attempt, offset, text: live[kind].slice(offset) });
    place[kind] = live[kind].length;
  }
}

/** Adds the events of one item; for a step's message, first the text that was not sent live. */
function itemEvents(follower: Follower, item: Item, events: RunEvent[], made: ItemEvents | undefined): void {
  const { seq } = item;
  switch (item.kind) {
    case "message": {
      const { runId: run, step, attempt, body } = item;
      // Nested steps are not streamed; a fork's copied messages are not streamed again.
      if (
        !isNested(item) &&
        run !== null &&
        step !== null &&
        attempt !== null &&
        body.role === "assistant" &&
        body.kept === undefined &&
        typeof body.content === "string"
      ) {
        const key = `${run}/${step}`;
        const live = { run, step, attempt, key, text: body.content, reasoning: body.reasoning ?? "" };
        remainder(deltaPosition(follower, live, events), live, events);
        follower.sent.delete(key);
      } else if (run !== null && body.role === "user" && body.to !== undefined) {
        events.push({ type: "run-start", run, agent: body.to });
      }
      events.push(itemEvent(item, made));
      return;
    }
    case "state": {
      const run = item.runId ?? "";
      const { body } = item;
      if (body.type === "run-wait") {
        if (body.reason === "provider") withdrawLive(follower, run, events);
        const { reason, text, error } = body;
        events.push({
          type: "run-wait",
          seq,
          run,
          reason,
          ...(text === undefined ? {} : { text }),
          ...(error === undefined ? {} : { error }),
        });
      } else if (body.type === "branch") events.push({ type: "branch", seq, leaf: item.parentId });
      else if (body.type === "turn")
        events.push({
          type: "turn-start",
          seq,
          run,
          agent: body.agent,
          answers: body.answers,
          rootRun: body.rootRun,
        });
      else if (body.type === "run-resume") events.push({ type: "run-resume", seq, run, by: item.author ?? "" });
      else if (body.type === "withdrawal")
        events.push({
          type: "withdrawal",
          seq,
          run,
          step: item.step ?? "",
          ...(item.index === null ? {} : { index: item.index }),
        });
      else if (body.type === "pass") events.push({ type: "pass", seq, run, agent: item.author ?? "" });
      else if (body.type === "chapter") events.push({ type: "chapter", seq, by: item.author ?? "" });
      else if (body.type === "strategy") {
        const { strategy, reason } = body;
        events.push({ type: "strategy", seq, run, strategy, ...(reason === undefined ? {} : { reason }) });
      } else if (body.type === "run-end") {
        withdrawLive(follower, run, events);
        // The run was resumed after this end.
        if (run === follower.run && seq < follower.resumedAt) return;
        events.push({
          type: "run-end",
          seq,
          run,
          status: body.status,
          ...(body.error === undefined ? {} : { error: body.error }),
        });
      }
      return;
    }
    default:
      events.push(itemEvent(item, made));
  }
}

const eventTypes = {
  message: "message",
  call: "call-start",
  result: "call-end",
  question: "question",
  decision: "decision",
  plan: "plan",
  summary: "summary",
  notice: "notice",
} as const;

function itemEvent(item: Exclude<Item, { kind: "state" }>, made?: ItemEvents): RunEvent {
  const known = made?.get(item);
  if (known) return known;
  const event = { type: eventTypes[item.kind], seq: item.seq, item } as RunEvent;
  made?.set(item, event);
  return event;
}

/** Withdraws live text of an attempt that won't be repeated, because its run ended or waits for its provider. */
function withdrawLive(follower: Follower, run: string, events: RunEvent[]): void {
  for (const [key, { run: of, step, attempt, text, reasoning }] of follower.sent) {
    if (of !== run) continue;
    follower.sent.delete(key);
    if (text + reasoning > 0) events.push({ type: "step-retry", run, step, attempt });
  }
}
