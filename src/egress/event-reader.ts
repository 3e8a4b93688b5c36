import type { Readable } from "node:stream";

type Bound = {
  /** Of one event. */
  readonly maxBytes: number;
  readonly tooLarge: () => Error;
  /** What a broken stream is told as. */
  readonly lost: (error: unknown) => unknown;
};

/** What a web stream's reader does, at a fraction of its cost; one read at a time. */
export type EventReader = {
  readonly read: () => Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  readonly cancel: () => Promise<void>;
};

/** The bytes of a stream of events as they are, until one event of them is too large. */
export function readEvents(stream: Readable, { maxBytes, tooLarge, lost }: Bound): EventReader {
  let wake: (() => void) | undefined;
  let broken: { readonly error: unknown } | undefined;
  let pending = 0;
  let tail = Buffer.alloc(0);
  const notify = (): void => {
    const look = wake;
    wake = undefined;
    look?.();
  };

  function count(chunk: Buffer): void {
    // The blank line that ends an event may be split between two chunks.
    const seam = tail.length === 0 ? chunk.subarray(0, 3) : Buffer.concat([tail, chunk.subarray(0, 3)]);
    const end = endOfEvents(chunk);
    if (end >= 0) pending = chunk.length - end;
    else pending = (endOfEvents(seam) >= 0 ? 0 : pending) + chunk.length;
    tail = Buffer.from(chunk.subarray(-3));
    if (pending > maxBytes) stream.destroy(tooLarge());
  }

  stream.on("readable", notify).on("end", notify);
  stream.on("error", (error) => {
    broken ??= { error };
    notify();
  });
  stream.on("close", () => {
    if (!stream.readableEnded) broken ??= { error: new Error("closed before its end") };
    notify();
  });
  return {
    read: () =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (broken) return reject(lost(broken.error));
          const value: Buffer | null = stream.read();
          if (value === null) {
            if (stream.readableEnded) resolve({ done: true });
            else wake = look;
            return;
          }
          count(value);
          // What makes an event too large is not given on.
          if (stream.destroyed && !stream.readableEnded) wake = look;
          else resolve({ done: false, value });
        };
        look();
      }),
    cancel: async () => void stream.destroy(),
  };
}

/** A response to be read by its `reader`, or like any other: a web stream is made only if somebody asks for one. */
export type EventResponse = Response & { readonly reader?: EventReader };

export function eventResponse(reader: EventReader, init: ResponseInit): EventResponse {
  let stream: ReadableStream<Uint8Array> | undefined;
  const body = (): ReadableStream<Uint8Array> => (stream ??= streamOf(reader));
  const response = Object.assign(new Response(null, init), {
    reader,
    text: () => new Response(body()).text(),
    json: () => new Response(body()).json(),
  });
  return Object.defineProperty(response, "body", { get: body });
}

function streamOf({ read, cancel }: EventReader): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { value } = await read();
        if (value) controller.enqueue(value);
        else controller.close();
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
}

function endOfEvents(bytes: Buffer): number {
  return Math.max(bytes.lastIndexOf("\n\n"), bytes.lastIndexOf("\r\n\r\n"), bytes.lastIndexOf("\r\r"));
}
