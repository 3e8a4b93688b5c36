type Bound = {
  readonly maxBytes: number;
  readonly tooLarge: () => Error;
  /** What a broken stream is told as. */
  readonly lost: (error: unknown) => unknown;
};

/** A stream of events as it is, until one event of it is too large. */
export async function* boundEvents(
  stream: AsyncIterable<Uint8Array>,
  { maxBytes, tooLarge, lost }: Bound,
): AsyncGenerator<Uint8Array> {
  let pending = 0;
  let tail = Buffer.alloc(0);
  try {
    for await (const bytes of stream) {
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      // The blank line that ends an event may be split between two chunks.
      const seam = Buffer.concat([tail, chunk.subarray(0, 3)]);
      const end = endOfEvents(chunk);
      if (end >= 0) pending = chunk.length - end;
      else pending = (endOfEvents(seam) >= 0 ? 0 : pending) + chunk.length;
      if (pending > maxBytes) throw tooLarge();
      tail = Buffer.from(chunk.subarray(-3));
      yield bytes;
    }
  } catch (error) {
    throw lost(error);
  }
}

function endOfEvents(bytes: Buffer): number {
  return Math.max(bytes.lastIndexOf("\n\n"), bytes.lastIndexOf("\r\n\r\n"), bytes.lastIndexOf("\r\r"));
}
