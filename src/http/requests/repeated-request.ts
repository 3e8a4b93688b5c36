import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { canonicalJson } from "../../protocol/base/exact-json.ts";
import type { AskedRequest } from "../../run/runs.ts";
import { whenClosed } from "../stream/sse.ts";

/** How long after its connection broke a request that is the same counts as asked again. */
const rememberedMs = 60_000;
const mostRemembered = 10_000;

/** Requests whose connection broke before they were answered, by their hash; when that was. Of this process. */
const broken = new Map<string, number>();
const begunAt = Date.now();

/**
 * What is asked, for a client that may ask it again: OpenAI's and Anthropic's libraries count their tries in a header, others just
 * send the same once more when the connection breaks, with its fields in whatever order.
 */
export function askedRequest(request: FastifyRequest, userId: string): AskedRequest {
  const about = canonicalJson([userId, request.url, request.headers["x-session-id"], request.body]);
  const digest = hash("sha256", about, "base64url").slice(0, 24);
  const tries = Number(request.headers["x-stainless-retry-count"] ?? 0);
  const now = Date.now();
  if (tries > 0 || now - (broken.get(digest) ?? -Infinity) < rememberedMs) return { hash: digest, mayRepeat: "client" };
  return now - begunAt < rememberedMs ? { hash: digest, mayRepeat: "restart" } : { hash: digest };
}

/** Remembers the request if its connection breaks before the whole answer has left. */
export function noteIfBroken({ raw }: FastifyReply, { hash: digest }: AskedRequest): void {
  whenClosed(raw, () => {
    broken.delete(digest);
    if (raw.writableFinished) return;
    broken.set(digest, Date.now());
    for (const [oldest, at] of broken) {
      if (broken.size <= mostRemembered && Date.now() - at < rememberedMs) break;
      broken.delete(oldest);
    }
  });
}
