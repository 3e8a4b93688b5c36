import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEvent } from "../../../protocol/threads/events.ts";
import { newId } from "../../../protocol/base/ids.ts";
import type { ItemOf, MessageBody } from "../../../protocol/threads/items.ts";
import { createRunReader } from "../../answers/run-reader.ts";
import { keptHead, responseWire } from "./wire.ts";

const run = newId();
const head = keptHead({ runId: run, seq: 0 }, {});
let seq = 0;
const base = () => ({
  ...{ id: newId(), threadId: run, seq: ++seq, parentId: null, runId: run, attempt: 1, author: "a", createdAt: "" },
});
const delta = (
  type: "text-delta" | "reasoning-delta",
  step: string,
  offset: number,
  text: string,
  attempt = 1,
): RunEvent => ({
  ...{ type, run, step, attempt, offset, text },
});
const message = (step: string, body: Partial<MessageBody>): RunEvent => {
  const item: ItemOf<"message"> = {
    ...{ ...base(), kind: "message", step, index: null, body: { role: "assistant", content: "", ...body } },
  };
  return { type: "message", seq: item.seq, item };
};
const call = (index: number): RunEvent => {
  const body = { name: `tool_${index}`, arguments: '{"a":1}', target: "server" as const };
  const item: ItemOf<"call"> = { ...base(), kind: "call", step: "1", index, body };
  return { type: "call-start", seq: item.seq, item };
};
const result = (index: number, content: string): RunEvent => {
  const item: ItemOf<"result"> = {
    ...base(),
    kind: "result",
    step: "1",
    index,
    body: { content, isError: index === 1 },
  };
  return { type: "call-end", seq: item.seq, item };
};

/** Two steps: thoughts and words, two calls at once, then more. */
const logged: readonly RunEvent[] = [
  message("1", { content: "One moment.", reasoning: "I look into it, then." }),
  call(0),
  call(1),
  result(0, "fine"),
  result(1, "broken"),
  message("2", { content: "Done, as far as it went.", reasoning: "So." }),
  { type: "run-end", seq: ++seq, run, status: "done" },
];
/** As the log is told: what of a message was not told live comes before it. */
const fromLog = logged.flatMap((event): RunEvent[] => {
  if (event.type !== "message") return [event];
  const { reasoning = "", content } = event.item.body;
  const step = event.item.step!;
  return [delta("reasoning-delta", step, 0, reasoning), delta("text-delta", step, 0, String(content)), event];
});
/** A first attempt thought otherwise and broke off in its first words; the next one thinks on behind them. */
const live: readonly RunEvent[] = [
  delta("reasoning-delta", "1", 0, "I would rather not, but let us see what can be done about that."),
  delta("text-delta", "1", 0, "One "),
  { type: "step-retry", run, step: "1", attempt: 1 },
  delta("reasoning-delta", "1", 0, "I look", 2),
  delta("text-delta", "1", 0, "One mo", 2),
  delta("reasoning-delta", "1", 6, " into it, then.", 2),
  delta("text-delta", "1", 6, "ment.", 2),
  ...logged.slice(0, 5),
  delta("reasoning-delta", "2", 0, "So."),
  ...Array.from("Done, as far as it went.", (letter, at) => delta("text-delta", "2", at, letter)),
  ...logged.slice(5),
];

type ToldEvent = {
  readonly type: string;
  readonly sequence_number: number;
  readonly item_id?: string;
  readonly delta?: string;
  readonly response?: object;
};

function tell(events: readonly RunEvent[], after?: number): ToldEvent[] {
  const read = createRunReader(run, { inOrder: true });
  const wire = responseWire(head, { isKept: true, ...(after !== undefined && { after }) });
  let text = wire.encode([{ type: "start", model: "assistant", provider: "colloquy" }]);
  for (const event of events) text += wire.encode(read([event]).parts);
  return text
    .split("\n\n")
    .filter(Boolean)
    .map((event) => JSON.parse(event.slice(event.indexOf("data: ") + 6)) as ToldEvent);
}

/** What a client has in the end, apart from thoughts: the texts, and all that is no piece of one. */
function gathered(events: readonly ToldEvent[]) {
  const texts: Record<string, string> = {};
  const others: unknown[] = [];
  for (const { type, delta: piece, item_id: item = "", sequence_number: number, response } of events) {
    if (/reasoning|rs_/.test(type + item)) continue;
    if (piece !== undefined) texts[item] = (texts[item] ?? "") + piece;
    else others.push([type, item, number, response !== undefined]);
  }
  return { texts, others };
}

test("live and from the log, an answer has the same events at the same positions, however a step began anew", () => {
  assert.deepEqual(gathered(tell(live)), gathered(tell(fromLog)));
  const numbers = tell(live).map((event) => event.sequence_number);
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((one, other) => one - other),
  );
});

test("cut anywhere and taken up from the log, nothing is missing and nothing twice", () => {
  const whole = gathered(tell(live));
  const told = tell(live);
  for (const [cut, { sequence_number: last }] of told.entries()) {
    const rest = tell(fromLog, last);
    assert.deepEqual(gathered([...told.slice(0, cut + 1), ...rest]), whole, `after ${cut}`);
  }
  // Whoever counts differently may name a place within a piece.
  for (let after = 0; after <= told.at(-1)!.sequence_number; after += after < 200_000 ? 1 : 99_983) {
    const rest = gathered(tell(fromLog, after)).texts;
    for (const [item, text] of Object.entries(rest)) assert.ok(whole.texts[item]!.endsWith(text));
    if (after > 500 && after < 99_000) after = 99_990;
    if (after > 100_500 && after < 199_000) after = 199_990;
  }
});
