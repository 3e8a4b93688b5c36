import type { CapturedText } from "../sandbox.ts";

/** Bytes kept of the beginning and of the end of each stream. */
const headBytes = 64 * 1024;
const tailBytes = 64 * 1024;

export type Capture = {
  push(chunk: Buffer): void;
  /** How many came so far. */
  bytes(): number;
  finish(): CapturedText;
};

/** Keeps the beginning and the end of a stream of any length in memory of one size, however long it is. */
export function createCapture(): Capture {
  const head: Buffer[] = [];
  let headLength = 0;
  /** A ring: what comes next stands at `next`, over what came longest ago. */
  let ring: Buffer | undefined;
  let next = 0;
  let bytes = 0;

  const keep = (chunk: Buffer) => {
    ring ??= Buffer.allocUnsafeSlow(tailBytes);
    const toEnd = chunk.copy(ring, next);
    if (toEnd < chunk.length) chunk.copy(ring, 0, toEnd);
    next = (next + chunk.length) % tailBytes;
  };

  return {
    push(chunk) {
      bytes += chunk.length;
      const toHead = chunk.subarray(0, headBytes - headLength);
      // A copy: whoever read it reads the next into the same memory.
      if (toHead.length > 0) head.push(Buffer.from(toHead));
      headLength += toHead.length;
      const rest = chunk.subarray(toHead.length);
      if (rest.length > 0) keep(rest.subarray(-tailBytes));
    },
    bytes: () => bytes,
    finish() {
      const behindHead = bytes - headLength;
      const end = !ring
        ? []
        : behindHead < tailBytes
          ? [ring.subarray(0, behindHead)]
          : [ring.subarray(next), ring.subarray(0, next)];
      const omittedBytes = Math.max(0, behindHead - tailBytes);
      const decode = (parts: readonly Buffer[]) => new TextDecoder().decode(Buffer.concat(parts));
      if (omittedBytes === 0) return { text: decode([...head, ...end]), bytes, omittedBytes };
      const note = Buffer.from(`\n[… ${omittedBytes} bytes left out …]\n`);
      return { text: decode([...head, note, ...end]), bytes, omittedBytes };
    },
  };
}
