const realOid = 700;

/** The parameter for a `real[]` in PostgreSQL's binary form: as text, numbers would cost more to read than all else. */
export function floatArray(values: Float32Array): Buffer {
  const bytes = Buffer.alloc(20 + values.length * 8);
  // One dimension, no nulls, the elements' type; the dimension's length and its first index.
  bytes.writeInt32BE(1, 0);
  bytes.writeInt32BE(0, 4);
  bytes.writeInt32BE(realOid, 8);
  bytes.writeInt32BE(values.length, 12);
  bytes.writeInt32BE(1, 16);
  for (let at = 0; at < values.length; at++) {
    bytes.writeInt32BE(4, 20 + at * 8);
    bytes.writeFloatBE(values[at]!, 24 + at * 8);
  }
  return bytes;
}
