import { isJSONRPCResultResponse, type JSONRPCResultResponse } from "@modelcontextprotocol/client";
import type { EventReader } from "../../egress/event-reader.ts";
import type { FetchInit, GuardedFetch } from "../../egress/guarded-fetch.ts";

/** How long a server may keep a stream open after the answer that it was for. */
const lingerMs = 1000;
const blankLine = /\r\n\r\n|\n\n|\r\r/;

/**
 * Most servers answer a call with nothing but its result, as JSON or in a stream of events. Such a result is delivered here,
 * and the transport hears that the request was accepted: its own reading costs as much as the call itself. All else stays as
 * it is, and so does the answer to the handshake, whose headers the transport needs.
 */
export function deliverResults(
  fetch: GuardedFetch["fetch"],
  deliver: (result: JSONRPCResultResponse) => void,
): GuardedFetch["fetch"] {
  return async (url: string | URL, init: FetchInit = {}) => {
    const response = await fetch(url, init);
    const request = String(init.body);
    if (init.method !== "POST" || response.status !== 200 || request.includes('"method":"initialize"')) return response;
    const { headers } = response;
    const type = headers.get("content-type") ?? "";
    if (/^application\/json\b/i.test(type)) {
      const text = await response.text();
      const result = resultOf(request, text);
      if (!result) return new Response(text, { headers });
      deliver(result);
      return accepted;
    }
    if (!/^text\/event-stream\b/i.test(type)) return response;
    const reader = response.reader ?? response.body?.getReader();
    if (!reader) return response;
    const { chunks, event, isEnded } = await readEvent(reader);
    const result = event === undefined ? undefined : resultOf(request, dataOf(event));
    if (!result) return new Response(ReadableStream.from(again(chunks, reader)), { headers });
    if (!isEnded) void leave(reader);
    deliver(result);
    return accepted;
  };
}

const accepted = new Response(null, { status: 202 });

/** The first event's lines, and all that was read for them. */
async function readEvent(reader: EventReader): Promise<{ chunks: Uint8Array[]; event?: string; isEnded: boolean }> {
  const chunks: Uint8Array[] = [];
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { value } = await reader.read();
    if (!value) return { chunks, isEnded: true };
    chunks.push(value);
    // Its blank line may be split between two chunks.
    const from = Math.max(0, text.length - 3);
    text += decoder.decode(value, { stream: true });
    const at = text.slice(from).search(blankLine);
    if (at >= 0) return { chunks, event: text.slice(0, from + at), isEnded: false };
  }
}

/** The data of an event that carries a message. */
function dataOf(event: string): string | undefined {
  const data: string[] = [];
  for (const line of event.split(/\r\n|\n|\r/)) {
    if (line.startsWith(":")) continue;
    const [, field, value = ""] = /^(data|event|id)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === undefined || (field === "event" && value !== "message")) return undefined;
    if (field === "data") data.push(value);
  }
  return data.join("\n");
}

/** The message, if it is the result of the request. */
function resultOf(request: string, text: string | undefined): JSONRPCResultResponse | undefined {
  if (text === undefined) return undefined;
  try {
    const message: unknown = JSON.parse(text);
    if (!isJSONRPCResultResponse(message)) return undefined;
    return request.includes(`"id":${JSON.stringify(message.id)}`) ? message : undefined;
  } catch {
    // Whatever it is, it is the client's to say so.
    return undefined;
  }
}

async function* again(chunks: readonly Uint8Array[], reader: EventReader): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
    for (let { value } = await reader.read(); value; { value } = await reader.read()) yield value;
  } finally {
    await reader.cancel();
  }
}

/** Waits for the end, so that the connection can be used again. */
async function leave(reader: EventReader): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), lingerMs);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer is here.
  } finally {
    clearTimeout(timer);
  }
}
