import type { CapturedText } from "./sandbox.ts";

/** Of each stream, this many bytes of the beginning and of the end are kept. */
const headBytes = 64 * 1024;
const tailBytes = 64 * 1024;

export type Capture = {
  push(chunk: Buffer): void;
  /** How many came so far. */
  bytes(): number;
  finish(): CapturedText;
};

/** Keeps the beginning and the end of a stream of any length in bounded memory. */
export function createCapture(): Capture {
  const head: Buffer[] = [];
  let headLength = 0;
  let tail: Buffer[] = [];
  let tailLength = 0;
  let bytes = 0;

  /** Keeps its own copy: a chunk may be a slice of a far larger buffer. */
  const keep = (chunk: Buffer) => {
    tail.push(Buffer.from(chunk));
    tailLength += chunk.length;
    if (tailLength < 2 * tailBytes) return;
    tail = [Buffer.concat(tail).subarray(-tailBytes)];
    tailLength = tailBytes;
  };

  return {
    push(chunk) {
      bytes += chunk.length;
      const toHead = chunk.subarray(0, headBytes - headLength);
      if (toHead.length > 0) head.push(Buffer.from(toHead));
      headLength += toHead.length;
      const rest = chunk.subarray(toHead.length);
      if (rest.length > 0) keep(rest.subarray(-tailBytes));
    },
    bytes: () => bytes,
    finish() {
      const end = Buffer.concat(tail).subarray(-tailBytes);
      const omittedBytes = bytes - headLength - end.length;
      const decode = (parts: readonly Buffer[]) => new TextDecoder().decode(Buffer.concat(parts));
      if (omittedBytes === 0) return { text: decode([...head, end]), bytes, omittedBytes };
      const note = Buffer.from(`\n[… ${omittedBytes} bytes left out …]\n`);
      return { text: decode([...head, note, end]), bytes, omittedBytes };
    },
  };
}
