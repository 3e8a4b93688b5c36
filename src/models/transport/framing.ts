import { LineTooLong, eachLine } from "./lines.ts";

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
