import { ModelError } from "../../../protocol/base/errors.ts";
import type { FinishReason, ModelPart, Usage } from "../../../protocol/agents/models.ts";
import type { AnswerPart } from "../../answers/answer-parts.ts";
import type { AnswerWire, WholeAnswer } from "../../answers/answer-wire.ts";
import { ollamaError } from "../../shapes/ollama-error.ts";
import { type CallBody, createCallList } from "./call-list.ts";

const doneReasons: Record<FinishReason, string> = {
  stop: "stop",
  length: "length",
  calls: "stop",
  filter: "content_filter",
  other: "stop",
};

type SaidMessage = { readonly content: string; readonly thinking?: string; readonly tool_calls?: readonly CallBody[] };

/** Where the two ways of asking differ: what is said is a message, or stands by itself. */
export type OllamaForm = {
  /** The line of a piece of text, and of a thought, before and after it. */
  readonly text: readonly [string, string];
  readonly thought: readonly [string, string];
  readonly fields: (said: SaidMessage) => object;
};

export const chatForm: OllamaForm = {
  text: [`"message":{"role":"assistant","content":`, `},"done":false}\n`],
  thought: [`"message":{"role":"assistant","content":"","thinking":`, `},"done":false}\n`],
  fields: (said) => ({ message: { role: "assistant", ...said } }),
};

export const generateForm: OllamaForm = {
  text: [`"response":`, `,"done":false}\n`],
  thought: [`"response":"","thinking":`, `,"done":false}\n`],
  fields: ({ content, ...more }) => ({ response: content, ...more }),
};

/**
 * One answer of this dialect, in lines of JSON. `model`: as it was asked for. A blank is what keeps a silent stream alive: some
 * clients take every line for an object, and a blank stands before the next one.
 */
export function ollamaWire(model: string, form: OllamaForm): AnswerWire {
  return {
    headers: { "content-type": "application/x-ndjson" },
    keepAlive: " ",
    encode: createLineEncoder(model, form),
    breakOff: errorLine,
    whole: () => createWhole(model, form),
  };
}

function errorLine(error: unknown): string {
  return JSON.stringify(ollamaError(error)) + "\n";
}

/** This runs for every token: all but the token's own text and the time is made once. */
function createLineEncoder(model: string, form: OllamaForm): (parts: readonly AnswerPart[]) => string {
  const head = `{"model":${JSON.stringify(model)},"created_at":"`;
  const clock = createClock();
  const calls = createCallList();
  const finish = ({ reason, usage }: Extract<ModelPart, { type: "finish" }>, line: string) => {
    const made = calls.made(reason);
    if (made instanceof ModelError) return errorLine(made);
    const rest = (fields: object) => line + JSON.stringify(fields).slice(1) + "\n";
    const called = made.length === 0 ? "" : rest({ ...form.fields({ content: "", tool_calls: made }), done: false });
    return called + rest({ ...form.fields({ content: "" }), ...ending(reason, usage, clock.times()) });
  };
  return (parts) => {
    let lines = "";
    let line = "";
    for (const part of parts) {
      if (part.type === "start") continue;
      if (line === "") {
        clock.begin();
        line = `${head}${clock.now()}",`;
      }
      if (part.type === "text") lines += line + form.text[0] + JSON.stringify(part.text) + form.text[1];
      else if (part.type === "reasoning") lines += line + form.thought[0] + JSON.stringify(part.text) + form.thought[1];
      else if (part.type === "finish") lines += finish(part, line);
      else calls.add(part);
    }
    return lines;
  };
}

function createWhole(model: string, form: OllamaForm): WholeAnswer {
  const clock = createClock();
  const calls = createCallList();
  let content = "";
  let thinking = "";
  let finish: Extract<ModelPart, { type: "finish" }> | undefined;
  return {
    add(parts) {
      for (const part of parts) {
        if (part.type === "start") continue;
        clock.begin();
        if (part.type === "text") content += part.text;
        else if (part.type === "reasoning") thinking += part.text;
        else if (part.type === "finish") finish = part;
        else calls.add(part);
      }
    },
    body() {
      const { reason = "other", usage = { inputTokens: 0, outputTokens: 0 } } = finish ?? {};
      const made = calls.made(reason);
      if (made instanceof ModelError) throw made;
      return {
        model,
        created_at: clock.now(),
        ...form.fields({
          content,
          ...(thinking !== "" && { thinking }),
          ...(made.length > 0 && { tool_calls: made }),
        }),
        ...ending(reason, usage, clock.times()),
      };
    },
  };
}

type Times = { readonly total: number; readonly before: number };

/** How long it took, in nanoseconds; until the first part it is the prompt that is read. */
function createClock() {
  let second = 0;
  let secondText = "";
  const asked = performance.now();
  let first: number | undefined;
  const nanoseconds = (milliseconds: number) => Math.round(milliseconds * 1e6);
  return {
    /** As `toISOString` writes it, which costs as much as ten tokens: all but the milliseconds is written once a second. */
    now(): string {
      const time = Date.now();
      const milliseconds = time % 1000;
      if (time - milliseconds !== second) {
        second = time - milliseconds;
        secondText = new Date(second).toISOString().slice(0, -4);
      }
      return `${secondText}${String(milliseconds).padStart(3, "0")}Z`;
    },
    begin: () => void (first ??= performance.now()),
    times(): Times {
      const total = nanoseconds(performance.now() - asked);
      return { total, before: first === undefined ? total : nanoseconds(first - asked) };
    },
  };
}

function ending(reason: FinishReason, usage: Usage, { total, before }: Times): object {
  return {
    done: true,
    done_reason: doneReasons[reason],
    total_duration: total,
    load_duration: 0,
    prompt_eval_count: usage.inputTokens,
    prompt_eval_duration: before,
    eval_count: usage.outputTokens,
    eval_duration: total - before,
  };
}
