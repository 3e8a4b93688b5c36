import { setTimeout as sleep } from "node:timers/promises";
import { ColloquyError } from "../../protocol/base/errors.ts";

/** Before each further try. */
const distancesMs = [300, 1000];
/** Whoever wants to be asked later than that has failed. */
const longestMs = 5000;

/** Nothing came, or not all of it. */
const passingCodes = new Set([
  ...["ECONNRESET", "ECONNREFUSED", "EPIPE", "ETIMEDOUT", "EAI_AGAIN"],
  ...["UND_ERR_SOCKET", "UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"],
]);
const passingStatuses = new Set([429, 500, 502, 503, 504, 529]);

/** Repeats a read a few times after a connection error or a server error. */
export async function retryRead<Value>(read: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  for (const distance of distancesMs) {
    try {
      return await read();
    } catch (error) {
      const delay = mayPass(error) ? Math.max(distance * (0.75 + Math.random() / 2), retryAfterMs(error)) : undefined;
      if (delay === undefined || delay > longestMs || signal.aborted) throw error;
      await sleep(delay, undefined, { signal });
    }
  }
  return read();
}

/** Whether a retry may help, according to the error or one of its causes. */
function mayPass(error: unknown): boolean {
  for (let depth = 0, at = error; depth < 4 && at instanceof Error; depth++, at = at.cause) {
    if ("code" in at && passingCodes.has(String(at.code))) return true;
    if ("status" in at && passingStatuses.has(Number(at.status)) && !isOurs(at)) return true;
  }
  return false;
}

/** Its status is what we would answer; only one that says when to come back is about a server that was asked. */
function isOurs(error: Error): boolean {
  return error instanceof ColloquyError && error.detail.retryAfterSeconds === undefined;
}

function retryAfterMs(error: unknown): number {
  return error instanceof ColloquyError ? (error.detail.retryAfterSeconds ?? 0) * 1000 : 0;
}
