const block = 512;
/** What the field of an older header holds. */
const maxOctal = 8 ** 11 - 1;

export type TarFile = {
  /** Relative, with slashes. */
  readonly name: string;
  readonly bytes: number;
  readonly modified: Date;
  /** Exactly so many bytes: what is missing is filled up with zeros, what is more is left out. */
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
};

/** The files as a tar archive (POSIX.1-2001), piece by piece. */
export async function* tarOf(files: AsyncIterable<TarFile>): AsyncGenerator<Uint8Array> {
  for await (const { name, bytes, modified, content } of files) {
    yield* headOf(name, bytes, modified);
    let left = bytes;
    for await (const piece of content) {
      const taken = piece.length > left ? piece.subarray(0, left) : piece;
      left -= taken.length;
      if (taken.length > 0) yield taken;
    }
    for (; left > 0; left -= Math.min(left, 65_536)) yield new Uint8Array(Math.min(left, 65_536));
    if (bytes % block > 0) yield new Uint8Array(block - (bytes % block));
  }
  yield new Uint8Array(2 * block);
}

/** What the plain header has no room for stands in an extended one before it. */
function* headOf(name: string, bytes: number, modified: Date): Generator<Uint8Array> {
  const records = [];
  if (!/^[\x20-\x7e]{1,100}$/.test(name)) records.push(recordOf("path", name));
  if (bytes > maxOctal) records.push(recordOf("size", String(bytes)));
  if (records.length > 0) {
    const text = Buffer.from(records.join(""));
    yield header({ name: "PaxHeader", bytes: text.length, modified, type: "x" });
    yield text;
    if (text.length % block > 0) yield new Uint8Array(block - (text.length % block));
  }
  yield header({ name: name.replaceAll(/[^\x20-\x7e]/g, "_").slice(-100), bytes, modified, type: "0" });
}

/** `<length> <key>=<value>`, the length counting itself. */
function recordOf(key: string, value: string): string {
  const rest = ` ${key}=${value.toWellFormed()}\n`;
  const size = Buffer.byteLength(rest);
  let length = size + String(size).length;
  if (String(length).length > String(size).length) length = size + String(length).length;
  return `${length}${rest}`;
}

function header({
  name,
  bytes,
  modified,
  type,
}: Pick<TarFile, "name" | "bytes" | "modified"> & { type: string }): Buffer {
  const head = Buffer.alloc(block);
  const octal = (value: number, length: number) =>
    `${Math.floor(value)
      .toString(8)
      .padStart(length - 1, "0")}\0`;
  head.write(name, 0, 100);
  head.write(octal(0o600, 8), 100);
  head.write(octal(0, 8), 108);
  head.write(octal(0, 8), 116);
  head.write(octal(Math.min(bytes, maxOctal), 12), 124);
  head.write(octal(Math.max(0, modified.getTime() / 1000), 12), 136);
  head.write("        ", 148);
  head.write(type, 156);
  head.write("ustar\0" + "00", 257);
  head.write(
    octal(
      head.reduce((sum, byte) => sum + byte, 0),
      7,
    ),
    148,
  );
  head.write("\0 ", 154);
  return head;
}
