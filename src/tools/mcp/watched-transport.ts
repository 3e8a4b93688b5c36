import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

/** In the error of a request whose answer's stream ended without the answer; nobody else has this object. */
export const streamEnded = { reason: "the stream ended without the answer" };
const connectionClosed = -32000;

/**
 * What the client leaves out over HTTP: a request whose stream breaks off fails at once instead of at its time-out, and a
 * request that was cancelled lets go of its connection in the older protocol too.
 */
export function watchRequests<Kind extends Transport>(transport: Kind): Kind {
  const open = new Map<string | number, AbortController>();
  const send = transport.send.bind(transport);
  let broken: Error | undefined;
  // Both are called before those of whoever connects the transport.
  transport.onerror = (error) => {
    broken = error;
  };
  transport.onmessage = (message: JSONRPCMessage) => {
    if (!("method" in message) && message.id !== undefined) open.delete(message.id);
  };
  transport.send = async (message, options) => {
    if (!("method" in message && "id" in message)) {
      const sent = send(message, options);
      const cancelled = cancelledBy(message);
      return cancelled === undefined ? sent : sent.finally(() => open.get(cancelled)?.abort());
    }
    // Subscriptions watch their own streams.
    if (options?.onRequestStreamEnd) return send(message, options);
    const { id } = message;
    const stop = new AbortController();
    open.set(id, stop);
    // Where the client ends a request itself, nothing else does.
    const requestSignal = options?.requestSignal ?? stop.signal;
    requestSignal.addEventListener("abort", () => open.delete(id), { once: true });
    const onRequestStreamEnd = () => {
      if (!open.delete(id)) return;
      const reason = broken?.message ?? streamEnded.reason;
      transport.onmessage?.({
        jsonrpc: "2.0",
        id,
        error: { code: connectionClosed, message: reason, data: streamEnded },
      });
    };
    broken = undefined;
    try {
      await send(message, { ...options, requestSignal, onRequestStreamEnd });
    } catch (error) {
      open.delete(id);
      throw error;
    }
  };
  return transport;
}

function cancelledBy(message: JSONRPCMessage): string | number | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  const id = message.params?.["requestId"];
  return typeof id === "number" || typeof id === "string" ? id : undefined;
}
