import { randomUUID } from "node:crypto";
import { ColloquyError } from "../../../protocol/base/errors.ts";
import type { AnswerWire } from "../../answers/answer-wire.ts";
import type { JsonFields } from "../../answers/request-values.ts";
import type { RunOutcome } from "../../answers/run-reader.ts";
import { openAiError } from "../../shapes/openai-error.ts";
import { createResponseEvents, type EventOptions, type ResponseEnd } from "./encode.ts";
import { type ResponsePlace, responseId } from "./ids.ts";
import { type ResponseHead, timeOfId } from "./response-object.ts";

export type ResponseWire = AnswerWire & {
  /** The response as far as it was told. */
  response(outcome?: Partial<RunOutcome>): object;
  /** The response while it is worked on. */
  state(status: "queued" | "in_progress"): object;
};

/** A response of a run. */
export function keptHead(place: ResponsePlace, echo: JsonFields): ResponseHead {
  return { id: responseId(place), createdAt: timeOfId(place.runId), echo };
}

/** One that is kept nowhere. */
export function passingHead(echo: JsonFields): ResponseHead {
  return { id: "resp_" + randomUUID().replaceAll("-", ""), createdAt: Math.floor(Date.now() / 1000), echo };
}

export function responseWire(head: ResponseHead, options: EventOptions): ResponseWire {
  const events = createResponseEvents(head, options);
  return {
    ...(options.isKept && { isRich: true, isResumable: true }),
    encode: (parts) => events.read(parts),
    breakOff(error, status) {
      // What goes on elsewhere has not failed: the reader comes back for it.
      if (options.isKept && status !== "failed" && status !== "cancelled") return errorEvent(error, events.last());
      return events.end(endOf(error, status));
    },
    whole: () => ({
      add: (parts) => void events.read(parts),
      body: () => events.response(),
    }),
    state: (status) => events.response({ status }),
    response: ({ error, status } = {}) => events.response(error && endOf(error, status)),
  };
}

function endOf(error: unknown, status?: RunOutcome["status"]): ResponseEnd {
  if (status === "cancelled") return { status };
  if (status === "waiting" || status === "running") return { status: "in_progress" };
  const { message } = openAiError(error).error;
  return { status: "failed", error: { code: codeOf(error), message } };
}

/** OpenAI has a closed list of codes; ours stands in the message. */
function codeOf(error: unknown): string {
  const status = error instanceof ColloquyError ? error.status : 500;
  if (status === 429) return "rate_limit_exceeded";
  return status < 500 ? "invalid_prompt" : "server_error";
}

function errorEvent(error: unknown, number: number): string {
  const { code, message, param } = openAiError(error).error;
  return `event: error\ndata: ${JSON.stringify({ type: "error", code, message, param, sequence_number: number })}\n\n`;
}
