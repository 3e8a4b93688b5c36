import type { ServerResponse } from "node:http";

const maxKept = 16 * 1024 * 1024;

/** Calls back once with the bytes of the body that were sent, undefined if there were very many, and whether they are all. */
export function tapAnswer(raw: ServerResponse, over: (body: Buffer | undefined, whole: boolean) => void): void {
  const kept: Buffer[] = [];
  let length = 0;
  let framed = false;
  let isOver = false;
  let isEnding = false;
  const keep = (chunk: unknown, encoding: unknown) => {
    if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) return;
    const bytes =
      typeof chunk === "string"
        ? Buffer.from(chunk, Buffer.isEncoding(String(encoding)) ? (encoding as BufferEncoding) : "utf8")
        : Buffer.from(chunk);
    length += bytes.length;
    // Event streams put the frames of chunks around their pieces themselves.
    framed ||= raw.headersSent && !raw.chunkedEncoding && sentHeader(raw, "transfer-encoding") === "chunked";
    if (length <= maxKept) kept.push(bytes);
  };
  const finish = (whole: boolean) => {
    if (isOver) return;
    isOver = true;
    const body = length > maxKept ? undefined : Buffer.concat(kept);
    over(body && framed ? withoutFrames(body) : body, whole);
  };
  const { write, end } = raw;
  raw.write = function (this: ServerResponse, ...rest: unknown[]) {
    // Some responses write what they end with.
    if (!isEnding) keep(rest[0], rest[1]);
    return Reflect.apply(write, this, rest) as boolean;
  };
  raw.end = function (this: ServerResponse, ...rest: unknown[]) {
    keep(rest[0], rest[1]);
    isEnding = true;
    const result = Reflect.apply(end, this, rest) as ServerResponse;
    finish(true);
    return result;
  } as ServerResponse["end"];
  raw.once("close", () => finish(false));
}

/** As it went out, also where it was never set on the response. */
export function sentHeader(raw: ServerResponse, name: string): string | undefined {
  const { _header: lines } = raw as ServerResponse & { readonly _header?: string | null };
  return new RegExp(`^${name}: *(.*?)\r?$`, "im").exec(lines ?? "")?.[1];
}

function withoutFrames(framed: Buffer): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (;;) {
    const end = framed.indexOf("\r\n", at);
    const size = end === -1 ? 0 : Number.parseInt(framed.toString("latin1", at, end), 16);
    if (!(size > 0)) return Buffer.concat(pieces);
    pieces.push(framed.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
