import type { FetchInit, GuardedFetch } from "../../egress/guarded-fetch.ts";

/** How long a server may keep a stream open after the answer that it was for. */
const lingerMs = 1000;
const blankLine = /\r\n\r\n|\n\n|\r\r/;

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * Most servers answer a call with a stream that holds nothing but the answer. Such an answer is given on as JSON, which costs
 * the client half of what a stream of events does. A stream that begins with anything else stays as it is.
 */
export function unwrapAnswers(fetch: GuardedFetch["fetch"]): GuardedFetch["fetch"] {
  return async (url: string | URL, init: FetchInit = {}) => {
    const response = await fetch(url, init);
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
    if (init.method !== "POST" || !isStream || !response.body) return response;
    const reader: Reader = response.body.getReader();
    const { chunks, event, isEnded } = await readEvent(reader);
    const { status } = response;
    const headers = new Headers(response.headers);
    const answer = event === undefined ? undefined : answerIn(event, String(init.body));
    if (answer === undefined) return new Response(ReadableStream.from(again(chunks, reader)), { status, headers });
    if (!isEnded) void leave(reader);
    headers.set("content-type", "application/json");
    return Object.assign(new Response(null, { status, headers }), { json: async () => answer });
  };
}

/** The first event's lines, and all that was read for them. */
async function readEvent(reader: Reader): Promise<{ chunks: Uint8Array[]; event?: string; isEnded: boolean }> {
  const chunks: Uint8Array[] = [];
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { chunks, isEnded: true };
    chunks.push(value);
    // Its blank line may be split between two chunks.
    const from = Math.max(0, text.length - 3);
    text += decoder.decode(value, { stream: true });
    const at = text.slice(from).search(blankLine);
    if (at >= 0) return { chunks, event: text.slice(0, from + at), isEnded: false };
  }
}

/** The message in an event, if it answers the request. */
function answerIn(event: string, request: string): object | undefined {
  const data: string[] = [];
  for (const line of event.split(/\r\n|\n|\r/)) {
    if (line.startsWith(":")) continue;
    const [, field, value = ""] = /^(data|event|id)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === undefined || (field === "event" && value !== "message")) return undefined;
    if (field === "data") data.push(value);
  }
  try {
    const message: unknown = JSON.parse(data.join("\n"));
    if (typeof message !== "object" || message === null || "method" in message || !("id" in message)) return undefined;
    return request.includes(`"id":${JSON.stringify(message.id)}`) ? message : undefined;
  } catch {
    // Whatever it is, it is the client's to say so.
    return undefined;
  }
}

async function* again(chunks: readonly Uint8Array[], reader: Reader): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}

/** Waits for the end, so that the connection can be used again. */
async function leave(reader: Reader): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), lingerMs);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer is here.
  } finally {
    clearTimeout(timer);
  }
}
