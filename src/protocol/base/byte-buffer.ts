/** Collects bytes that arrive in pieces. Grows by doubling, so adding single bytes stays cheap. */
export type ByteBuffer = {
  /** Adds a piece. Returns false, and adds nothing, if the total would exceed `max`. */
  add(piece: Uint8Array): boolean;
  readonly length: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
};

const firstBytes = 64 * 1024;

/** `expected`: the announced size; at most 64 KB is allocated for it. */
export function createByteBuffer(max: number, expected = firstBytes): ByteBuffer {
  let storage = new Uint8Array(Math.min(max, expected, firstBytes));
  let length = 0;
  return {
    add(piece) {
      const end = length + piece.length;
      if (end > max) return false;
      if (end > storage.length) {
        const larger = new Uint8Array(Math.min(max, Math.max(end, 2 * storage.length)));
        larger.set(storage.subarray(0, length));
        storage = larger;
      }
      storage.set(piece, length);
      length = end;
      return true;
    },
    get length() {
      return length;
    },
    get bytes() {
      return storage.subarray(0, length);
    },
  };
}
