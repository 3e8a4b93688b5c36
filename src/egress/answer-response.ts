import type { EgressResponse, ByteReader } from "./exchange.ts";

const ofConnection: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding"]);

/** For those who know only `fetch`. */
export function responseOf(answer: EgressResponse): Response {
  const { status, headers } = answer;
  const response =
    "reader" in answer ? eventResponse(answer.reader, { status }) : wholeResponse(answer.bytes, { status });
  // Each set once: a Response that is made with headers copies them.
  for (const [name, value] of Object.entries(headers)) {
    if (ofConnection.has(name)) continue;
    if (typeof value === "string") response.headers.append(name, value);
    else for (const each of value ?? []) response.headers.append(name, each);
  }
  return response;
}

/** What it holds is read without streams. */
function wholeResponse(bytes: Buffer<ArrayBuffer>, init: ResponseInit): Response {
  const response = Object.assign(new Response(null, init), {
    text: async () => bytes.toString(),
    json: async () => JSON.parse(bytes.toString()) as unknown,
    arrayBuffer: async () => new Uint8Array(bytes).buffer,
  });
  return Object.defineProperty(response, "body", { get: () => new Response(bytes).body });
}

/** A web stream is made only if somebody asks for one. */
function eventResponse(reader: ByteReader, init: ResponseInit): Response {
  let stream: ReadableStream<Uint8Array> | undefined;
  const body = (): ReadableStream<Uint8Array> => (stream ??= streamOf(reader));
  const response = Object.assign(new Response(null, init), {
    text: () => new Response(body()).text(),
    json: () => new Response(body()).json(),
  });
  return Object.defineProperty(response, "body", { get: body });
}

function streamOf({ read, cancel }: ByteReader): ReadableStream<Uint8Array> {
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
