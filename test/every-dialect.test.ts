import assert from "node:assert/strict";
import { test } from "node:test";
import { createRandom, type Random } from "../chaos/random.ts";
import type { AnswerPart } from "../src/http/answers/answer-parts.ts";
import type { AnswerWire } from "../src/http/answers/answer-wire.ts";
import { createPlainAnswer } from "../src/http/answers/plain-answer.ts";
import { createRunReader } from "../src/http/answers/run-reader.ts";
import { chatWire } from "../src/http/dialects/chat-completions/encode.ts";
import { completionWire } from "../src/http/dialects/completions/encode.ts";
import { messageWire } from "../src/http/dialects/messages/encode.ts";
import { chatForm, generateForm, ollamaWire } from "../src/http/dialects/ollama/encode.ts";
import { responseWire } from "../src/http/dialects/responses/wire.ts";
import { newId } from "../src/protocol/base/ids.ts";
import type { RunEvent } from "../src/protocol/threads/events.ts";
import type { CallBody, ItemBodies, ItemOf } from "../src/protocol/threads/items.ts";

const seed = Number(process.env["COLLOQUY_TEST_SEED"] ?? Math.floor(Math.random() * 2 ** 32));

const endings = [
  ...["done", "length", "filter", "client", "failed", "cancelled", "withdrawn"],
  ...["approval", "question", "limit", "unknown", "provider"],
] as const;
type Ending = (typeof endings)[number];

/** Texts that a protocol's framing might stumble over. */
const pieces = [
  "One",
  " moment",
  '"',
  "\n\n",
  "data: [DONE]",
  "\\",
  "ä",
  "🙂",
  "\u2028",
  "<think>",
  "\r\n",
  "{}",
  "  ",
];

/** What followers of a run are told that comes out so: steps with words, thoughts and calls of the server's tools, some by turns. */
function courseOf(random: Random, ending: Ending) {
  const run = newId();
  let seq = 0;
  const item = <Kind extends keyof ItemBodies>(kind: Kind, body: ItemBodies[Kind], place: object = {}) =>
    ({
      ...{ id: newId(), threadId: run, seq: ++seq, parentId: null, runId: run, attempt: 1, author: "assistant" },
      ...{ createdAt: "", step: null, index: null, kind, body, ...place },
    }) as unknown as ItemOf<Kind>;
  const events: RunEvent[] = [];
  const textOf = (most: number) => Array.from({ length: random.between(0, most) }, () => random.pick(pieces)).join("");
  const tell = (type: "text-delta" | "reasoning-delta", step: string, text: string) => {
    for (let at = 0; at < text.length;) {
      const end = Math.min(text.length, at + random.between(1, 9));
      events.push({ type, run, step, attempt: 1, offset: at, text: text.slice(at, end) });
      at = end;
    }
  };
  const say = (step: string, finish: string) => {
    const [reasoning, content] = [textOf(5), textOf(8)];
    tell("reasoning-delta", step, reasoning);
    if (random.chance(0.8)) tell("text-delta", step, content);
    const usage = { inputTokens: random.between(0, 9), outputTokens: random.between(0, 9) };
    const message = item("message", { role: "assistant", content, reasoning, finish, usage }, { step });
    events.push({ type: "message", seq, item: message });
  };
  const call = (step: string, index: number, target: CallBody["target"]) => {
    const body = { name: `tool_${index}`, arguments: `{"n":${index}}`, target };
    events.push({ type: "call-start", seq, item: item("call", body, { step, index }) });
  };
  const steps = random.between(0, 3);
  for (let step = 1; step <= steps; step++) {
    say(String(step), "calls");
    const calls = random.between(1, 3);
    for (let index = 0; index < calls; index++) call(String(step), index, "server");
    for (let index = 0; index < calls; index++) {
      const result = item("result", { content: textOf(4), isError: random.chance(0.2) }, { step: String(step), index });
      events.push({ type: "call-end", seq, item: result });
    }
  }
  const last = String(steps + 1);
  const end = (status: "done" | "failed" | "cancelled", error?: { code: string; message: string }) =>
    events.push({ type: "run-end", seq: ++seq, run, status, ...(error && { error }) });
  switch (ending) {
    case "done":
    case "length":
    case "filter":
      say(last, ending === "done" ? "stop" : ending);
      end("done");
      break;
    case "failed":
      end("failed", {
        code: random.pick(["model_refused", "model_rate_limit", "limit_steps", "failed"]),
        message: "x",
      });
      break;
    case "cancelled":
      end("cancelled");
      break;
    case "withdrawn":
      events.push({ type: "text-delta", run, step: last, attempt: 1, offset: 0, text: "Yes" });
      events.push({
        type: "message",
        seq,
        item: item("message", { role: "assistant", content: "No" }, { step: last }),
      });
      break;
    case "client":
      say(last, "calls");
      for (let index = 0; index < random.between(1, 3); index++) call(last, index, "client");
      events.push({ type: "run-wait", seq: ++seq, run, reason: "client" });
      break;
    default: {
      say(last, "calls");
      call(last, 0, "server");
      const about = { tool: "tool_0", arguments: '{"n":0}' };
      const question = item(
        "question",
        { reason: ending, text: `May I? (${ending})`, ...about },
        { step: last, index: 0 },
      );
      events.push({ type: "question", seq, item: question });
      events.push({ type: "run-wait", seq: ++seq, run, reason: ending });
    }
  }
  return { run, events };
}

type Told = {
  readonly text: string;
  readonly thoughts: string;
  readonly calls: number;
  /** As its protocol calls it; an error's is "error". */
  readonly end: string;
};

/** What all protocols' frames may have. */
type Frame = { readonly done?: boolean; readonly type?: string; readonly error?: unknown };

function eventsIn<Kind extends Frame>(text: string): readonly Kind[] {
  assert.ok(text === "" || text.endsWith("\n\n"), "whole events only");
  return text
    .split("\n\n")
    .filter(Boolean)
    .map((event) => {
      const [, name, data] = /^(?:event: ([\w.]+)\n)?data: ([^\n]*)$/.exec(event) ?? [];
      assert.ok(data !== undefined, `one line of data: ${event}`);
      const frame = JSON.parse(data === "[DONE]" ? '{"done":true}' : data) as Kind;
      if (name !== undefined) assert.equal(frame.type, name);
      return frame;
    });
}

function join<Kind>(frames: readonly Kind[], of: (frame: Kind) => string | undefined): string {
  return frames.map((frame) => of(frame) ?? "").join("");
}

type Dialect = {
  readonly wire: () => AnswerWire;
  readonly streamed: (text: string) => Told;
  readonly whole: (body: unknown) => Told;
  /** How an answer that ended well, reached its length, was filtered, and calls the client's tools is told. */
  readonly ends: Readonly<Record<"done" | "length" | "filter" | "client", string>>;
  readonly tellsCalls?: false;
  readonly tellsThoughts?: false;
};

function lastOf<Kind extends Frame>(frames: readonly Kind[], isLast: (frame: Kind) => boolean | undefined): Kind {
  const ends = frames.filter((frame) => isLast(frame) || frame.error);
  assert.equal(ends.length, 1, "one end");
  assert.equal(ends[0], frames.at(-1), "and nothing behind it");
  return ends[0]!;
}

type ChatMessage = {
  readonly content?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly { readonly id?: string }[];
};
type Choice = {
  readonly delta: ChatMessage;
  readonly message: ChatMessage;
  readonly text: string;
  readonly finish_reason: string;
};
type Choices = Frame & { readonly choices?: readonly Choice[] };

function choiceEnd(frames: readonly Choices[]): string {
  return lastOf(frames, ({ done }) => done).error ? "error" : frames.at(-2)!.choices![0]!.finish_reason;
}
function ofChat(messages: readonly ChatMessage[]): Omit<Told, "end"> {
  const text = join(messages, ({ content }) => content ?? "");
  const thoughts = join(messages, ({ reasoning_content }) => reasoning_content);
  return { text, thoughts, calls: messages.flatMap(({ tool_calls = [] }) => tool_calls).filter(({ id }) => id).length };
}
const chat: Dialect = {
  wire: () => chatWire(false),
  streamed(text) {
    const frames = eventsIn<Choices>(text);
    return {
      ...ofChat(frames.flatMap(({ choices = [] }) => choices.map(({ delta }) => delta))),
      end: choiceEnd(frames),
    };
  },
  whole(body) {
    const { message, finish_reason } = (body as Choices).choices![0]!;
    return { ...ofChat([message]), end: finish_reason };
  },
  ends: { done: "stop", length: "length", filter: "content_filter", client: "tool_calls" },
};

const completion: Dialect = {
  wire: () => completionWire(false),
  streamed(text) {
    const frames = eventsIn<Choices>(text);
    const said = join(frames, ({ choices }) => choices?.[0]?.text);
    return { text: said, thoughts: "", calls: 0, end: choiceEnd(frames) };
  },
  whole(body) {
    const { text, finish_reason } = (body as Choices).choices![0]!;
    return { text, thoughts: "", calls: 0, end: finish_reason };
  },
  ends: { done: "stop", length: "length", filter: "content_filter", client: "stop" },
  tellsCalls: false,
  tellsThoughts: false,
};

type Block = { readonly type?: string; readonly text?: string; readonly thinking?: string };
type MessageEvent = Frame & {
  readonly index?: number;
  readonly content_block?: Block;
  readonly delta?: Block & { readonly stop_reason?: string };
};
const messages: Dialect = {
  wire: () => messageWire("msg_1"),
  streamed(text) {
    const frames = eventsIn<MessageEvent>(text);
    const last = lastOf(frames, ({ type }) => type === "message_stop");
    let open = -1;
    for (const { type, index } of frames) {
      if (type === "content_block_start") assert.equal(index, ++open, "blocks are counted");
      if (type === "content_block_delta" || type === "content_block_stop")
        assert.equal(index, open, "of the open block");
    }
    return {
      text: join(frames, ({ delta }) => delta?.text),
      thoughts: join(frames, ({ delta }) => delta?.thinking),
      calls: frames.filter(({ content_block: block }) => block?.type === "tool_use").length,
      end: last.error ? "error" : frames.at(-2)!.delta!.stop_reason!,
    };
  },
  whole(body) {
    const { content, stop_reason } = body as { readonly content: readonly Block[]; readonly stop_reason: string };
    const calls = content.filter(({ type }) => type === "tool_use").length;
    const thoughts = join(content, ({ thinking }) => thinking);
    return { text: join(content, ({ text }) => text), thoughts, calls, end: stop_reason };
  },
  ends: { done: "end_turn", length: "max_tokens", filter: "refusal", client: "tool_use" },
};

type Line = Frame & {
  readonly message?: { readonly content?: string; readonly thinking?: string; readonly tool_calls?: readonly object[] };
  readonly response?: string;
  readonly thinking?: string;
  readonly done_reason?: string;
};
function ofLines(lines: readonly Line[], { error, done_reason: reason = "" }: Line): Told {
  return {
    text: join(lines, ({ message, response }) => message?.content ?? response),
    thoughts: join(lines, ({ message, thinking }) => message?.thinking ?? thinking),
    calls: lines.flatMap(({ message }) => message?.tool_calls ?? []).length,
    end: error ? "error" : reason,
  };
}
const ollama = (form: typeof chatForm): Dialect => ({
  wire: () => ollamaWire("m", form),
  streamed(text) {
    assert.ok(text.endsWith("\n"), "whole lines only");
    const lines = text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line);
    return ofLines(
      lines,
      lastOf(lines, ({ done }) => done),
    );
  },
  whole: (body) => ofLines([body as Line], body as Line),
  ends: { done: "stop", length: "length", filter: "content_filter", client: "stop" },
  ...(form === generateForm && { tellsCalls: false }),
});

type ResponseItem = {
  readonly type: string;
  readonly content?: readonly { readonly text: string }[];
  readonly summary?: readonly { readonly text: string }[];
};
type ResponseBody = {
  readonly status: string;
  readonly output: readonly ResponseItem[];
  readonly incomplete_details?: { readonly reason: string } | null;
};
type ResponseEvent = Frame & {
  readonly sequence_number: number;
  readonly delta?: string;
  readonly response?: ResponseBody;
};
const responses: Dialect = {
  wire: () => responseWire({ id: "resp_1", createdAt: 0, echo: { model: "m" } }, { isKept: true }),
  streamed(text) {
    const frames = eventsIn<ResponseEvent>(text);
    const isEnd = /^(response\.(completed|incomplete|failed)|error)$/;
    const { response } = lastOf(frames, ({ type }) => isEnd.test(type!));
    const numbers = frames.map(({ sequence_number: number }) => number);
    const sorted = numbers.toSorted((one, other) => one - other);
    assert.deepEqual(numbers, sorted, "positions go on");
    if (!response) return { text: "", thoughts: "", calls: 0, end: "error" };
    const told = this.whole(response);
    const deltas = frames.filter(({ type }) => type === "response.output_text.delta");
    assert.equal(
      join(deltas, ({ delta }) => delta),
      told.text,
      "the deltas are the text",
    );
    return told;
  },
  whole(body) {
    const { output, status, incomplete_details: incomplete } = body as ResponseBody;
    const of = (type: string) => output.filter((item) => item.type === type);
    return {
      text: join(of("message"), ({ content = [] }) => join(content, ({ text }) => text)),
      thoughts: join(of("reasoning"), ({ summary = [] }) => join(summary, ({ text }) => text)),
      calls: of("function_call").length,
      end: incomplete?.reason ?? (status === "failed" ? "error" : status),
    };
  },
  ends: { done: "completed", length: "max_output_tokens", filter: "content_filter", client: "completed" },
};

const dialects: Readonly<Record<string, Dialect>> = {
  ...{ "chat completions": chat, completions: completion, messages, responses },
  ...{ "Ollama's chat": ollama(chatForm), "Ollama's generate": ollama(generateForm) },
};

/** The parts of a course, in batches as they might be read, and the error that it ends with. */
function partsOf({ run, events }: ReturnType<typeof courseOf>, random: Random, { isRich, isResumable }: AnswerWire) {
  const read = createRunReader(run, { inOrder: isResumable === true });
  const plain = isRich ? (parts: readonly AnswerPart[]) => parts : createPlainAnswer();
  /** As the run told them, whatever the protocol is shown. */
  const told: AnswerPart[] = [];
  const batches: (readonly AnswerPart[])[] = [[{ type: "start", model: "m", provider: "colloquy" }]];
  let outcome: ReturnType<typeof read>["outcome"];
  for (let at = 0; at < events.length && !outcome;) {
    const end = at + random.between(1, 6);
    const reading = read(events.slice(at, end));
    told.push(...reading.parts);
    batches.push(plain(reading.parts));
    ({ outcome } = reading);
    at = end;
  }
  assert.ok(outcome, "it comes to an end");
  return { batches, told, outcome };
}

for (const [name, dialect] of Object.entries(dialects))
  test(`${name}: however a run comes out, its answer has one end, and says all that is said (seed ${seed})`, () => {
    const { ends, tellsCalls = true, tellsThoughts = true } = dialect;
    for (const ending of endings)
      for (let times = 0; times < 20; times++) {
        const random = createRandom(seed + times);
        const course = courseOf(random, ending);
        const { batches, told, outcome } = partsOf(course, random, dialect.wire());
        const wire = dialect.wire();
        const begun = batches.map((parts) => wire.encode(parts)).join("");
        const last = outcome.error ? wire.breakOff(outcome.error, outcome.status) : "";
        const streamed = dialect.streamed(begun + last);
        const isError = ["failed", "cancelled", "withdrawn", "provider"].includes(ending);
        const usual = ends[ending in ends ? (ending as keyof typeof ends) : "done"];
        if (isError) assert.match(streamed.end, /^(error|cancelled|failed)$/, ending);
        else assert.equal(streamed.end, usual, ending);
        if (isError) continue;
        // Items stand apart by themselves, and an approval is an item of its own.
        const isRich = wire.isRich === true;
        const same = (text: string) => (isRich ? text.replaceAll(/\s+/g, "") : text);
        const said = join(told, (part) => (part.type === "text" || part.type === "wait" ? part.text : ""));
        const thought = join(batches.flat(), (part) => (part.type === "reasoning" ? part.text : ""));
        const calls = told.filter(({ type }) => type === "call-start").length;
        for (const part of told)
          if (part.type === "tool-start" && !isRich) assert.match(thought, new RegExp(`${part.name} \\{`), "its tools");
        if (!isRich || !told.some(({ type }) => type === "wait")) assert.equal(same(streamed.text), same(said), ending);
        assert.equal(same(streamed.thoughts), tellsThoughts ? same(thought) : "", ending);
        assert.equal(streamed.calls, tellsCalls ? calls : 0, ending);
        const whole = dialect.wire().whole();
        for (const batch of batches) whole.add(batch);
        assert.deepEqual(dialect.whole(JSON.parse(JSON.stringify(whole.body()))), streamed, `${ending}, whole`);
      }
  });
