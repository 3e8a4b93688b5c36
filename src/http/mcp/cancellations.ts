type RequestId = string | number;

/**
 * In the older protocol a call is taken back by a request of its own, which names the call by its id; ids are the client's, so a
 * call is looked for where the client's session says. Only calls of this process are found.
 */
export type Cancellations = {
  /** Returns how to forget it. */
  note(place: string, id: RequestId, cancel: () => void): () => void;
  cancel(place: string, id: RequestId): void;
};

export function createCancellations(): Cancellations {
  const calls = new Map<string, () => void>();
  const keyOf = (place: string, id: RequestId) => JSON.stringify([place, id]);
  return {
    note(place, id, cancel) {
      const key = keyOf(place, id);
      calls.set(key, cancel);
      return () => {
        if (calls.get(key) === cancel) calls.delete(key);
      };
    },
    cancel: (place, id) => calls.get(keyOf(place, id))?.(),
  };
}

/** The id of the call that a notification takes back; undefined if it is anything else. */
export function cancelledRequestId(body: unknown): RequestId | undefined {
  const { method, params } = (typeof body === "object" && body !== null ? body : {}) as {
    method?: unknown;
    params?: { requestId?: unknown } | null;
  };
  if (method !== "notifications/cancelled") return undefined;
  const id = params?.requestId;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}
