import type { ServerAnswer } from "../model-servers/answers.ts";
import type { SeenRequest } from "../model-servers/model-server.ts";
import anthropic from "./anthropic.json" with { type: "json" };
import everyWire from "./every-wire.json" with { type: "json" };
import ollama from "./ollama.json" with { type: "json" };
import openai from "./openai.json" with { type: "json" };

export type WireName = SeenRequest["wire"];

/** What comes of a run whose model answers in this way once, and plainly from then on. Texts in `/…/` are patterns. */
export type Outcome = {
  /** The answer that the person reads. */
  readonly done?: string;
  /** Words of the error. */
  readonly failed?: string;
  /** Failed with these words, or done, if the step was tried again. */
  readonly either?: string;
  /** How often the tool that writes has written. */
  readonly writes?: number;
};

/** A way in which real models and servers answer; see README.md. */
export type Way = {
  readonly name: string;
  readonly seen: string;
  readonly wires?: readonly string[];
  readonly answer?: ServerAnswer;
  readonly frames?: readonly (string | object)[];
  readonly all?: Outcome;
  readonly talk?: Outcome;
  readonly text?: Outcome;
  readonly room?: Outcome;
  readonly only?: Readonly<Record<string, Outcome>>;
};

const own: Readonly<Record<WireName, readonly Way[]>> = {
  openai: openai as readonly Way[],
  anthropic: anthropic as readonly Way[],
  ollama: ollama as readonly Way[],
};

/** What may come over any wire, and over this one too. */
export function sharedWays(wire: WireName): readonly Way[] {
  return (everyWire as readonly Way[]).filter(({ wires }) => wires?.includes(wire) ?? true);
}

/** What comes over this wire alone. */
export function ownWays(wire: WireName): readonly Way[] {
  return own[wire];
}

/** The names of an agent's tools, for the places in a way that stand for them. */
export type ToolNames = { readonly read: string; readonly write: string };

/** The way as a model server plays it. */
export function played(way: Way, wire: WireName, { read, write }: ToolNames): ServerAnswer {
  const filled = (text: string) =>
    text
      .replaceAll("{read}", read)
      .replaceAll("{write}", write)
      .replaceAll("{WRITE}", write.toUpperCase())
      .replaceAll("{long}", "milk ".repeat(20_000));
  if (way.answer) return { ...(JSON.parse(filled(JSON.stringify(way.answer))) as ServerAnswer), ...writingOf(way) };
  const raw = (way.frames ?? []).map((frame) => framed(frame, wire)).join("");
  return { raw: filled(raw), write: 11 };
}

function writingOf({ answer }: Way): Pick<ServerAnswer, "write"> {
  return answer?.write === undefined ? {} : { write: answer.write };
}

function framed(frame: string | object, wire: WireName): string {
  if (typeof frame === "string") return frame === "[DONE]" ? "data: [DONE]\n\n" : frame;
  const text = JSON.stringify(frame);
  if (wire === "ollama") return `${text}\n`;
  const event = wire === "anthropic" && "type" in frame ? `event: ${String(frame.type)}\n` : "";
  return `${event}data: ${text}\n\n`;
}

export const kinds = ["tools", "auto", "taiga", "room", "react", "json-actions", "plan-execute"] as const;
export type Kind = (typeof kinds)[number];

const inText: readonly Kind[] = ["react", "json-actions", "plan-execute"];

/** What is to come of this way for an agent that works so. */
export function outcomeOf({ all, talk, text, room, only }: Way, kind: Kind): Outcome {
  const writes = (all ?? talk ?? text)?.writes ?? 0;
  const usual: Outcome = all?.either === undefined ? { done: plainAnswer, writes } : {};
  const ofKind = kind === "room" ? (room ?? talk) : inText.includes(kind) ? text : talk;
  return { ...usual, ...all, ...clean(usual, ofKind), ...clean(usual, only?.[kind]) };
}

/** One that fails is not done. */
function clean(usual: Outcome, outcome: Outcome | undefined): Outcome | undefined {
  return outcome?.failed === undefined ? outcome : { ...outcome, done: undefined as never, writes: usual.writes ?? 0 };
}

export const plainAnswer = "All done.";

/** What a model says that understands what it is asked. */
export function plainly(kind: Kind): (request: SeenRequest) => string {
  return ({ body: { messages, system } }) => {
    const asked = JSON.stringify(Array.isArray(messages) ? messages.at(-1) : "");
    if (kind === "react") {
      if (asked.includes("final_answer: true or false")) return "final_answer: true\nObservation: it is noted";
      return asked.includes("Final Answer:") ? `Thought: I know it.\nFinal Answer: ${plainAnswer}` : plainAnswer;
    }
    if (kind === "json-actions") return JSON.stringify({ thought: "", action: "final", answer: plainAnswer });
    const isPlan = kind === "plan-execute" && JSON.stringify([system, messages]).includes('{\\"steps');
    return isPlan ? '{"steps": ["look at the notes"]}' : plainAnswer;
  };
}
