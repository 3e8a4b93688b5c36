import { setImmediate as nextTurn } from "node:timers/promises";
import type { ModelRequest, ModelStream } from "../../protocol/agents/models.ts";
import { ModelError } from "../../protocol/base/errors.ts";
import type { Adapter } from "../transport/adapter.ts";
import { AnswerWriter } from "../transport/answer-writer.ts";
import { label, nextStep, type DemoStep } from "./next-step.ts";
import { turnOf } from "./protocols.ts";
import { propertiesOf, schemaInstance } from "./schema-instance.ts";

const samplesOnly =
  "I am the demo model and understand nothing: these values only have the shape that was asked for. Configure a real model for real ones.";

/** Answers by rules, without a language model, and drives real tools: so that everything works with nothing installed. */
export function createDemo(): Adapter {
  async function* stream(request: ModelRequest, signal: AbortSignal): ModelStream {
    const answer = new AnswerWriter(request);
    const next = answerTo(request);
    if ("calls" in next) {
      for (const { tool, input } of next.calls) answer.callArguments(answer.startCall(tool), JSON.stringify(input));
      answer.finish("calls", undefined);
      yield answer.take();
      return;
    }
    if (next.aside) answer.reasoning(next.aside);
    // Pieces of a few words, as a model would stream them.
    for (const piece of next.text.match(/(?:\S+\s*){1,4}/g) ?? [next.text]) {
      if (signal.aborted) throw new ModelError("aborted", 'Model "demo": stopped by us');
      answer.text(piece);
      yield answer.take();
      await nextTurn();
    }
    answer.finish("stop", undefined);
    yield answer.take();
  }
  return { provider: "demo", name: "demo", contextTokens: 128_000, demo: true, stream };
}

/** `aside`: what must be said beside a text that has no room for it. */
type DemoAnswer = Extract<DemoStep, { calls: unknown }> | { readonly text: string; readonly aside?: string };

function answerTo(request: ModelRequest): DemoAnswer {
  const turn = turnOf(request);
  if (typeof turn === "string") return { text: turn };
  const step = nextStep(turn);
  if (turn.write) return turn.write(step);
  return "calls" in step ? step : finalText(request, step.text);
}

function finalText({ format }: ModelRequest, text: string): DemoAnswer {
  if (format?.type === "json") return { text: JSON.stringify({ answer: text, by: label }) };
  if (format?.type !== "json-schema") return { text: `${text}\n\n${label}` };
  const instance = schemaInstance(format.schema);
  // A plain text by that name is where an answer belongs.
  const isPlace = JSON.stringify(propertiesOf(format.schema)["answer"]) === '{"type":"string"}';
  const filled = isPlace ? { ...Object(instance), answer: `${text}\n\n${label}` } : instance;
  return { text: JSON.stringify(filled), aside: samplesOnly };
}
