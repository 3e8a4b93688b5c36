import type { JSONRPCResultResponse } from "@modelcontextprotocol/client";
import type { EgressResponse, ByteReader } from "../../egress/exchange.ts";

/** A result, or the answer as it was for those who read all of it. */
export type FirstResult = { readonly result: JSONRPCResultResponse } | { readonly other: EgressResponse };

/** How long a server may keep a stream open after the answer that it was for. */
const lingerMs = 1000;
const blankLine = /\r\n\r\n|\n\n|\r\r/;

/**
 * Most servers answer a call with nothing but its result, as JSON or in a stream of events. Such a result is read here; all
 * else is left to the client's own transport, whose reading costs as much as the call itself.
 */
export async function readResult(answer: EgressResponse, id: number): Promise<FirstResult> {
  const other: FirstResult = { other: answer };
  if (answer.status !== 200) return other;
  if (!("reader" in answer)) {
    if (!/^application\/json\b/i.test(String(answer.headers["content-type"]))) return other;
    const result = resultOf(answer.bytes.toString(), id);
    return result ? { result } : other;
  }
  const { reader, status, headers } = answer;
  const { chunks, event, isEnded } = await readEvent(reader);
  const result = event === undefined ? undefined : resultOf(dataOf(event), id);
  if (!result) return { other: { status, headers, reader: again(chunks, reader) } };
  if (!isEnded && reader.isOver?.() !== true) void leave(reader);
  return { result };
}

/** The first event's lines, and all that was read for them. */
async function readEvent(reader: ByteReader): Promise<{ chunks: Uint8Array[]; event?: string; isEnded: boolean }> {
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
function resultOf(text: string | undefined, id: number): JSONRPCResultResponse | undefined {
  if (text === undefined) return undefined;
  try {
    const message: unknown = JSON.parse(text);
    return isResult(message) && message.id === id ? message : undefined;
  } catch {
    // Whatever it is, it is the client's to say so.
    return undefined;
  }
}

function isResult(message: unknown): message is JSONRPCResultResponse {
  if (typeof message !== "object" || message === null) return false;
  const { jsonrpc, id, result, ...more } = message as { readonly [key: string]: unknown };
  for (const _ in more) return false;
  return (
    jsonrpc === "2.0" && id !== undefined && typeof result === "object" && result !== null && !Array.isArray(result)
  );
}

/** What was read already comes once more. */
function again(chunks: Uint8Array[], { read, cancel }: ByteReader): ByteReader {
  return {
    read: async () => {
      const value = chunks.shift();
      return value ? { done: false, value } : read();
    },
    cancel,
  };
}

/** Waits for the end, so that the connection can be used again. */
async function leave(reader: ByteReader): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), lingerMs);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer is here.
  } finally {
    clearTimeout(timer);
  }
}
