/** What a model server answers to one request, in words that every wire can say. */
export type ServerAnswer = {
  /** Pieces of text; a string is one piece. */
  readonly text?: string | readonly string[];
  readonly reasoning?: string | readonly string[];
  readonly calls?: readonly ServerCall[];
  readonly finish?: "stop" | "length" | "calls" | "filter";
  /** `null`: the server does not count. */
  readonly usage?: { readonly input: number; readonly output: number } | null;

  /** Instead of an answer: this status with an error body of the wire. */
  readonly status?: number;
  readonly error?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of an answer: this body, as it is. */
  readonly raw?: string;

  /** Milliseconds before the first byte, and between writes. */
  readonly delayMs?: number;
  readonly paceMs?: number;
  /** What goes into one write: a frame (default), everything, or so many bytes (1 splits UTF-8 too). */
  readonly write?: "frame" | "all" | number;
  /** Line ends of the stream. */
  readonly newline?: "\n" | "\r\n";

  /** Goes wrong after the pieces of the answer, before its end mark. */
  readonly fault?: Fault;
};

export type ServerCall = { readonly name: string; readonly arguments: object | string; readonly id?: string };

export type Fault =
  /** The body ends properly, but too early. */
  | "cut"
  /** The socket is destroyed. */
  | "reset"
  /** The wire's own error in mid-stream. */
  | "error"
  /** Bytes that are no frame. */
  | "garbage"
  /** Nothing more comes, and the connection stays. */
  | "hang"
  /** Not even a status line. */
  | "silent"
  /** The socket is destroyed before a status line. */
  | "dropped"
  /** The end mark alone is missing (OpenAI: `[DONE]`). */
  | "no-end-mark";

/** How one wire writes an answer. */
export interface WireFormat {
  readonly contentType: string;
  /** Frames before the end mark, frames of the end, and the frame of an error in mid-stream. */
  frames(
    answer: ServerAnswer,
    body: Body,
  ): { readonly said: readonly string[]; readonly finish: readonly string[]; readonly mark: readonly string[] };
  errorFrame(message: string): string;
  whole(answer: ServerAnswer, body: Body): object;
  errorBody(status: number, message: string): object;
  /** Whether this request wants a stream. */
  streams(body: Body): boolean;
}

export type Body = Readonly<Record<string, unknown>>;

export function pieces(text: string | readonly string[] | undefined): readonly string[] {
  return text === undefined ? [] : typeof text === "string" ? [text] : text;
}

export function argumentText(call: ServerCall): string {
  return typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
}

export function reasonOf(answer: ServerAnswer): "stop" | "length" | "calls" | "filter" {
  return answer.finish ?? (answer.calls?.length ? "calls" : "stop");
}
