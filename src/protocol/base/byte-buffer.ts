/** Bytes that come in pieces, in one place that grows: as many pieces as there are bytes cost no more than a few. */
export type ByteBuffer = {
  /** False: they would be more than may be; the piece is left out. */
  add(piece: Uint8Array): boolean;
  readonly length: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
};

const firstBytes = 64 * 1024;

/** `expected`: as whoever sends them says, who is not believed for more than the first piece. */
export function createByteBuffer(most: number, expected = firstBytes): ByteBuffer {
  let place = new Uint8Array(Math.min(most, expected, firstBytes));
  let length = 0;
  return {
    add(piece) {
      const end = length + piece.length;
      if (end > most) return false;
      if (end > place.length) {
        const larger = new Uint8Array(Math.min(most, Math.max(end, 2 * place.length)));
        larger.set(place.subarray(0, length));
        place = larger;
      }
      place.set(piece, length);
      length = end;
      return true;
    },
    get length() {
      return length;
    },
    get bytes() {
      return place.subarray(0, length);
    },
  };
}
