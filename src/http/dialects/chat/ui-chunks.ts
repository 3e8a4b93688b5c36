import { z } from "zod";
import { eventStream } from "../../shapes/event-schema.ts";

/** One chunk of the AI SDK's UI message stream, version 1. */
type UiChunk = { readonly type: string; readonly [field: string]: unknown };

/** Writes a message as chunks: steps, in them parts of text and reasoning that are begun and ended as they have to be. */
type ChunkWriter = {
  /** Any chunk, in the step that is open. */
  put(type: string, fields?: object): void;
  /** Text of this step goes on. */
  say(step: string, text: string): void;
  /** A thought of this step, whole. */
  think(step: string, text: string): void;
  /** Begins this step, unless it is the open one. */
  enter(step: string): void;
  leave(): void;
  /** Takes back what was told of this step. */
  reset(step: string): void;
  /** Characters of text that were told of this step, if it is the open one. */
  told(step: string): number;
  /** Returns what was written since the last call, as SSE events. */
  take(): string;
};

/** Chunks are the AI SDK's; each type has fields of its own. */
const chunkSchema = z.looseObject({
  type: z.enum([
    "start",
    "start-step",
    "finish-step",
    "reset-step",
    "text-start",
    "text-delta",
    "text-end",
    "reasoning-start",
    "reasoning-delta",
    "reasoning-end",
    "tool-input-available",
    "tool-output-available",
    "tool-output-error",
    "source-url",
    "source-document",
    "data-event",
    "file",
    "error",
    "abort",
    "finish",
  ]),
});
export const uiMessageStream = (more?: Readonly<Record<string, { readonly schema: z.ZodType }>>) =>
  eventStream(
    "An AI SDK UI message stream; the last event is [DONE]",
    z.object({ data: z.union([chunkSchema, z.literal("[DONE]")]) }),
    more,
  );

export const doneEvent = "data: [DONE]\n\n";

export function createChunkWriter(): ChunkWriter {
  let chunks: UiChunk[] = [];
  let open: string | undefined;
  let textId: string | undefined;
  let told = 0;
  let thoughts = 0;

  const put = (type: string, fields: object = {}) => {
    chunks.push({ type, ...fields });
  };
  const endText = () => {
    if (textId !== undefined) put("text-end", { id: textId });
    textId = undefined;
  };
  const leave = () => {
    endText();
    if (open !== undefined) put("finish-step");
    open = undefined;
  };
  const enter = (step: string) => {
    if (step === open) return;
    leave();
    put("start-step");
    open = step;
    told = 0;
  };

  return {
    put(type, fields) {
      endText();
      put(type, fields);
    },
    say(step, text) {
      if (text === "") return;
      enter(step);
      if (textId === undefined) {
        textId = `text-${step}`;
        put("text-start", { id: textId });
      }
      put("text-delta", { id: textId, delta: text });
      told += text.length;
    },
    think(step, text) {
      if (text.trim() === "") return;
      enter(step);
      endText();
      const id = `thought-${++thoughts}`;
      put("reasoning-start", { id });
      put("reasoning-delta", { id, delta: text });
      put("reasoning-end", { id });
    },
    enter,
    leave,
    reset(step) {
      if (step !== open) return;
      put("reset-step");
      textId = undefined;
      told = 0;
    },
    told: (step) => (step === open ? told : 0),
    take() {
      const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
      chunks = [];
      return text;
    },
  };
}
