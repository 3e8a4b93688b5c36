import { request } from "undici";
import type { Dispatcher } from "undici";
import { messageOf } from "../../protocol/base/errors.ts";

export type Reply =
  | { readonly status: number; readonly body: unknown }
  | { readonly problem: "refused" | "timed-out" | "not-it"; readonly detail: string };

export type JsonRequestOptions = {
  readonly timeoutMs: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes it a POST of this as JSON. */
  readonly body?: object;
  readonly dispatcher?: Dispatcher;
};

const longestReply = 4 << 20;

/** One small question to a server. Never throws: what goes wrong is a reply too. A body that is no JSON is undefined. */
export async function askJson(
  url: string | URL,
  { timeoutMs, headers, body, dispatcher }: JsonRequestOptions,
): Promise<Reply> {
  try {
    const response = await request(url, {
      signal: AbortSignal.timeout(timeoutMs),
      reset: true,
      ...(dispatcher && { dispatcher }),
      ...(body
        ? { method: "POST", body: JSON.stringify(body), headers: { ...headers, "content-type": "application/json" } }
        : { headers: { ...headers } }),
    });
    const text = await boundedText(response.body);
    return { status: response.statusCode, body: parseOrUndefined(text) };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (error instanceof DOMException && error.name === "TimeoutError") {
      return { problem: "timed-out", detail: `no answer within ${timeoutMs} ms` };
    }
    if (code === "address_refused") return { problem: "not-it", detail: messageOf(error) };
    if (code === "ECONNREFUSED" || code === "ENOTFOUND") return { problem: "refused", detail: "nothing listens there" };
    return { problem: "not-it", detail: `no HTTP answer (${code || String(error)})` };
  }
}

/** Of whatever was answered. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

async function boundedText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    if ((size += chunk.length) > longestReply) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
