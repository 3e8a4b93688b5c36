import type { FastifyReply } from "fastify";
import { whenClosed } from "./sse.ts";

/** Fires when the connection is over: whoever asked waits no more. */
export function closedSignal({ raw }: FastifyReply): AbortSignal {
  const closed = new AbortController();
  whenClosed(raw, () => closed.abort());
  return closed.signal;
}
