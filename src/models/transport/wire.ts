import type { ModelRequest } from "../../protocol/agents/models.ts";
import type { OmittedFields } from "./adapter.ts";
import type { AnswerWriter } from "./answer-writer.ts";
import type { FrameReader } from "./framing.ts";

/** A provider's wire over HTTP: how a request is written and an answer read. No I/O. */
export interface Wire {
  readonly provider: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Tools may be called what they like; else only by letters, digits, `_` and `-`. */
  readonly takesAnyName?: true;
  readonly framing: (payload: (data: string) => void) => FrameReader;
  /** Throws Unsendable. */
  body(request: ModelRequest, leftOut: OmittedFields): object;
  reader(answer: AnswerWriter, request: ModelRequest, leftOut: OmittedFields): AnswerReader;
  /** All that should be left out next time, given what the provider said to a 400; undefined: nothing more to try. */
  adapt?(said: string, leftOut: OmittedFields): OmittedFields | undefined;
}

/** Reads one answer into its writer. Throws Reported, NotTheProtocol or Cut. */
export interface AnswerReader {
  /** All was said that makes an answer; at most the end mark is missing. */
  readonly complete: boolean;
  /** The provider rests in the middle of its answer, and goes on at a further request with the body that `goOn` gives. */
  readonly paused?: boolean;
  /** Ends the pause; made from the last request's body. */
  goOn?(body: object): object;
  /** One payload of the stream: parsed JSON, or the text `[DONE]`. */
  event(payload: unknown): void;
  /** The answer to a request that was not streamed. */
  whole(body: unknown): void;
  /** The bytes have ended before the answer finished. */
  end(): void;
}

/** The provider reports an error inside its answer. */
export class ProviderError extends Error {
  readonly error: unknown;
  constructor(error: unknown) {
    super("the provider reported an error");
    this.error = error;
  }
}

/** What came is not the provider's protocol. */
export class NotTheProtocol extends Error {}

/** A request that this provider's wire can't carry. */
export class UnsupportedRequest extends Error {}

/** The answer ended without its end mark. */
export class StreamCutOff extends Error {}

/** An object, or the end of reading. */
export function objectOf(payload: unknown): object {
  if (typeof payload === "object" && payload !== null && !Array.isArray(payload)) return payload;
  throw new NotTheProtocol(`an object was expected, not ${JSON.stringify(payload)?.slice(0, 80)}`);
}
