import type { OutgoingHttpHeaders } from "node:http";
import type { SseOpening } from "../stream/sse.ts";
import type { AnswerPart } from "./answer-parts.ts";
import type { RunOutcome } from "./run-reader.ts";

/** How a protocol writes one answer, streamed or whole. Made anew for each answer. */
export type AnswerWire = {
  /** Of a streamed answer, besides those of an event stream. */
  readonly headers?: OutgoingHttpHeaders;
  /** Sent into a stream that is silent for long; a comment of an event stream when absent. */
  readonly keepAlive?: string;
  /** It takes all parts; absent: only those that `createPlainAnswer` gives. */
  readonly isRich?: true;
  /** An answer that broke off may be taken up where it did: told live and from the log it is the same, up to how it is cut. */
  readonly isResumable?: true;
  /** The text of a batch of parts, which leaves at once; "" leaves nothing. This runs for every token. */
  encode(parts: readonly AnswerPart[]): string;
  /** The last text of an answer that breaks off; `status`: how its run came out, if that is why. */
  breakOff(error: unknown, status?: RunOutcome["status"]): string;
  /** Collects the parts of an answer that is sent in one piece. */
  whole(): WholeAnswer;
};

export type WholeAnswer = {
  add(parts: readonly AnswerPart[]): void;
  body(): object;
};

/** How a stream in this wire is opened. */
export function openingOf({ headers, keepAlive, breakOff }: AnswerWire): SseOpening {
  return {
    ...(headers && { headers }),
    ...(keepAlive !== undefined && { keepAlive }),
    refusal: (error) => breakOff(error),
  };
}
