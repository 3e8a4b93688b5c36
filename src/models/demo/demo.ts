import { setImmediate as nextTurn } from "node:timers/promises";
import { ModelError } from "../../protocol/base/errors.ts";
import type { ModelRequest, ModelStream, ToolSchema } from "../../protocol/agents/models.ts";
import { closedBlocks, withoutPieces } from "../../protocol/base/closed-blocks.ts";
import type { Adapter } from "../transport/adapter.ts";
import { AnswerWriter } from "../transport/answer-writer.ts";
import { callsSinceUser, formatOf, messageText, roomFormat } from "./formats.ts";
import { introduction, label } from "./introduction.ts";
import { nextStep, type PlannedCall, type DemoStep } from "./next-step.ts";

import { propertiesOf, schemaInstance } from "./schema-instance.ts";

const samplesOnly =
  "I am the demo model and understand nothing: these values only have the shape that was asked for. Configure a real model for real ones.";

/** Whoever is told to watch, and to speak of real problems only, sees none by rules. */
const mayPass = /^\[pass\]$/m;

/** Longer texts are no wishes that rules could follow, and the patterns would take long over them. */
const longestSentence = 2000;

/** Answers by rules, without a language model, and drives real tools: so that everything works with nothing installed. */
export function createDemo(): Adapter {
  async function* stream(request: ModelRequest, signal: AbortSignal): ModelStream {
    const answer = new AnswerWriter(request);
    const plan = planFor(request);
    if ("calls" in plan) {
      for (const call of plan.calls) answer.callArguments(answer.startCall(call.tool), JSON.stringify(call.input));
      answer.finish("calls", undefined);
      yield answer.take();
      return;
    }
    if (plan.aside) answer.reasoning(plan.aside);
    for (const piece of piecesOf(plan.text)) {
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
type DemoAnswer = { readonly calls: readonly PlannedCall[] } | { readonly text: string; readonly aside?: string };

/** What to do next, seen from the last thing a person said and what was done since. */
function planFor(request: ModelRequest): DemoAnswer {
  if (request.messages.some((message) => message.role === "system" && mayPass.test(messageText(message))))
    return { text: "[pass]" };
  const format = formatOf(request) ?? roomFormat(request);
  if (typeof format === "string") return { text: format };
  const asked = messageText(request.messages.findLast((message) => message.role === "user"));
  const { said, files } = saidIn(format?.said ?? asked);
  const sentence = said.replaceAll(/\s+/g, " ").trim().slice(0, longestSentence);
  const { toolChoice } = request;
  const forced = toolChoice !== undefined && toolChoice !== "auto" && toolChoice !== "none";
  const work = format?.work ?? { tools: offered(request), ...callsSinceUser(request.messages), forced };
  const next = withFiles(nextStep({ ...work, sentence }), files);
  const isWritten = format?.writesCalls ?? false;
  if (next && "calls" in next && !isWritten) return next;
  if (format) return { text: format.write(next, sentence) };
  return finalText(request, next && "text" in next ? next.text : introduction(sentence, work.tools));
}

function withFiles(next: DemoStep | undefined, files: ReadonlyMap<string, string>): DemoStep | undefined {
  if (!next || "text" in next) return next;
  return { calls: next.calls.map(({ tool, input }) => ({ tool, input: withPaths(input, files) })) };
}

/** What was written, without what is told of files that came with it; and where these are, by their names. */
function saidIn(text: string): { readonly said: string; readonly files: ReadonlyMap<string, string> } {
  const places = text.matchAll(/^<attached-file>\nFile: (.+)\nPath: (.+) \(in the workspace\)$/gm);
  return {
    said: withoutPieces(
      text,
      closedBlocks(text, /^<attached-file>\n/gm, () => /\n<\/attached-file>$/gm),
    ),
    files: new Map([...places].map(([, name = "", path = ""]) => [name, path])),
  };
}

/** Whoever names a file that came with the message means it where it is. */
function withPaths(input: PlannedCall["input"], files: ReadonlyMap<string, string>): PlannedCall["input"] {
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [key, (typeof value === "string" && files.get(value)) || value]),
  );
}

function offered(request: ModelRequest): readonly ToolSchema[] {
  const { tools = [], toolChoice } = request;
  if (toolChoice === "none") return [];
  return typeof toolChoice === "object" ? tools.filter(({ name }) => name === toolChoice.name) : tools;
}

function finalText(request: ModelRequest, text: string): DemoAnswer {
  const { format } = request;
  if (format?.type === "json-schema") {
    const instance = schemaInstance(format.schema);
    // A plain text by that name is where an answer belongs.
    const isPlace = JSON.stringify(propertiesOf(format.schema)["answer"]) === '{"type":"string"}';
    const filled = isPlace ? { ...Object(instance), answer: `${text}\n\n${label}` } : instance;
    return { text: JSON.stringify(filled), aside: samplesOnly };
  }
  if (format?.type === "json") return { text: JSON.stringify({ answer: text, by: label }) };
  return { text: `${text}\n\n${label}` };
}

/** Pieces of a few words, as a model would stream them. */
function piecesOf(text: string): readonly string[] {
  return text.match(/(?:\S+\s*){1,4}/g) ?? [text];
}
