import { createHash } from "node:crypto";
import type { Cancellations } from "../server/services.ts";
import type { NodeNotices } from "../../protocol/base/node-notices.ts";

type RequestId = string | number;

const subject = "mcp-cancel";

export function createCancellations(nodes?: NodeNotices): Cancellations {
  const calls = new Map<string, () => void>();
  // Of one length, and nothing that others could use who listen on the database.
  const keyOf = (place: string, id: RequestId) =>
    createHash("sha256")
      .update(JSON.stringify([place, id]))
      .digest("base64url");
  nodes?.hear(subject, (key = "") => calls.get(key)?.());
  return {
    note(place, id, cancel) {
      const key = keyOf(place, id);
      calls.set(key, cancel);
      return () => {
        if (calls.get(key) === cancel) calls.delete(key);
      };
    },
    cancel(place, id) {
      const key = keyOf(place, id);
      const cancel = calls.get(key);
      if (cancel) cancel();
      else nodes?.tell(subject, key);
    },
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
