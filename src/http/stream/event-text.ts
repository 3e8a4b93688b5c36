import { type Cursor, formatCursor, type LivePlace, type RunEvent } from "../../protocol/threads/events.ts";
import { publicItem } from "../../protocol/threads/public-views.ts";

/**
 * Formats events as SSE, each with the cursor after it, so that a reader disconnected within a batch can
 * continue after the last event it received. `prefix` stands before the cursor, where it says of what it is the cursor.
 */
export function createEventWriter(
  from: Cursor,
  prefix = "",
): (events: readonly RunEvent[], cursor: () => Cursor) => string {
  let before = from;
  const place = prefix === "" ? "" : `${prefix} `;
  return (events, cursor) => {
    const after = cursor();
    let text = "";
    for (let index = 0; index < events.length; index++) {
      const event = events[index]!;
      before = index === events.length - 1 ? after : cursorAfter(before, event);
      text += `event: ${event.type}\nid: ${place}${formatCursor(before)}\ndata: ${dataOf(event)}\n\n`;
    }
    return text;
  };
}

/** Followers of one thread are told the same events, which become text once for all of them. */
const texts = new WeakMap<RunEvent, string>();

function dataOf(event: RunEvent): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const text = JSON.stringify(event.type === "message" ? { ...event, item: publicItem(event.item) } : event);
  texts.set(event, text);
  return text;
}

function cursorAfter({ seq, live }: Cursor, event: RunEvent): Cursor {
  switch (event.type) {
    case "step-start":
    case "step-retry":
      return { seq, live: without(live, event.run, event.step) };
    case "text-delta":
    case "reasoning-delta": {
      const { run, step, attempt } = event;
      const known = live.find((place) => place.run === run && place.step === step) ?? {
        run,
        step,
        attempt,
        text: 0,
        reasoning: 0,
      };
      const read = event.offset + event.text.length;
      const place: LivePlace =
        event.type === "text-delta" ? { ...known, attempt, text: read } : { ...known, attempt, reasoning: read };
      return { seq, live: [...without(live, run, step), place] };
    }
    case "message":
      return { seq: event.seq, live: without(live, event.item.runId, event.item.step) };
    case "run-end":
      return { seq: event.seq, live: live.filter((place) => place.run !== event.run) };
    default:
      return { seq: "seq" in event ? event.seq : seq, live };
  }
}

function without(live: readonly LivePlace[], run: string | null, step: string | null): readonly LivePlace[] {
  return live.filter((place) => place.run !== run || place.step !== step);
}
