import type { Readable } from "node:stream";

/** All bytes of a stream; `tooLarge` and what breaks the stream are thrown. By events: iterating costs twice as much. */
export function readWhole(
  stream: Readable,
  { maxBytes, tooLarge }: { readonly maxBytes: number; readonly tooLarge: () => Error },
): Promise<Buffer<ArrayBuffer>> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer<ArrayBuffer>>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) stream.destroy(tooLarge());
    else chunks.push(chunk);
  });
  stream.once("end", () => resolve(Buffer.concat(chunks)));
  stream.once("error", reject);
  stream.once("close", () => stream.readableEnded || reject(new Error("closed before its end")));
  return promise;
}

/** An answer that is here already: what it holds is read without streams. */
export function wholeResponse(bytes: Buffer<ArrayBuffer>, init: ResponseInit): Response {
  const response = Object.assign(new Response(null, init), {
    text: async () => bytes.toString(),
    json: async () => JSON.parse(bytes.toString()) as unknown,
    arrayBuffer: async () => new Uint8Array(bytes).buffer,
  });
  return Object.defineProperty(response, "body", { get: () => new Response(bytes).body });
}
