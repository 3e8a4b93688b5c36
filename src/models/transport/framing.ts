/** Characters of one event whose data comes in several lines. */
const longestEvent = 8 << 20;

/** Finds the payloads in text that comes in whole lines. */
export type FrameReader = {
  push(text: string): void;
  /** Takes what stands after the last line end, or was never closed by an empty line. */
  end(rest: string): void;
};

/** One JSON text per line. */
export function ndjson(payload: (data: string) => void): FrameReader {
  const line = (text: string) => {
    if (text !== "" && text.trim() !== "") payload(text);
  };
  return { push: (text) => eachLine(text, line), end: (rest) => eachLine(rest, line) };
}

/** Server-sent events; only their data counts, since every provider repeats the event's name inside it. */
export function serverSentEvents(payload: (data: string) => void): FrameReader {
  let data: string | undefined;
  const line = (text: string) => {
    if (text === "") {
      if (data === undefined) return;
      const complete = data;
      data = undefined;
      payload(complete);
    } else if (text.startsWith("data:")) {
      const value = text.slice(text.charCodeAt(5) === 32 ? 6 : 5);
      data = data === undefined ? value : `${data}\n${value}`;
      if (data.length > longestEvent) throw new LineTooLong(`an event of more than ${longestEvent} characters`);
    }
  };
  return {
    push: (text) => eachLine(text, line),
    end(rest) {
      eachLine(rest, line);
      line("");
    },
  };
}

const lineFeed = 10;

export class LineTooLong extends Error {}

/**
 * Cuts a byte stream into text that ends with a line end, in as few pieces as possible.
 * A line end is never inside a UTF-8 sequence, so whole lines decode right however the reads fell.
 */
export class LineBuffer {
  readonly #limit: number;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  /** `limit`: the longest line in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** All whole lines that are there after this read, as one text; "" if there is none yet. */
  push(chunk: Buffer): string {
    const end = chunk.lastIndexOf(lineFeed) + 1;
    let text = "";
    if (end > 0) {
      if (this.#pendingBytes === 0) text = chunk.toString("utf8", 0, end);
      else {
        this.#pending.push(chunk.subarray(0, end));
        text = Buffer.concat(this.#pending).toString("utf8");
        this.#pending = [];
        this.#pendingBytes = 0;
      }
    }
    if (end < chunk.length) {
      this.#pendingBytes += chunk.length - end;
      if (this.#pendingBytes > this.#limit) throw new LineTooLong(`a line of more than ${this.#limit} bytes`);
      this.#pending.push(end === 0 ? chunk : chunk.subarray(end));
    }
    return text;
  }

  /** What is left after the last line end. */
  rest(): string {
    const text = Buffer.concat(this.#pending).toString("utf8");
    this.#pending = [];
    this.#pendingBytes = 0;
    return text;
  }
}

/** Calls `line` for every line of a text of whole lines, without its end (LF or CRLF). */
function eachLine(text: string, line: (line: string) => void): void {
  let from = 0;
  while (from < text.length) {
    let to = text.indexOf("\n", from);
    if (to === -1) to = text.length;
    const end = to > from && text.charCodeAt(to - 1) === 13 ? to - 1 : to;
    line(text.slice(from, end));
    from = to + 1;
  }
}
