import type { ThreadView, ListedThread, PendingView, EditedMessage } from "../protocol/threads/threads.ts";
import type { ShareView, SharedView, MadeShare } from "../protocol/threads/shares.ts";
import type { MessageContent } from "../protocol/threads/items.ts";
import { ask, askJson, askList, queryOf, type ServerAccess } from "./request.ts";

export type ThreadPage = {
  readonly before?: string;
  readonly limit?: number;
  readonly search?: string;
  readonly archived?: "true" | "false";
  /** `pinned`: only those. */
  readonly sort?: "made" | "used" | "pinned";
  readonly kind?: "conversation" | "room" | "all";
  /** A folder's id, or `none`. */
  readonly folder?: string;
  readonly pinned?: "false";
};

/** What is done with threads as wholes. */
export type ThreadClient = {
  list(page?: ThreadPage, signal?: AbortSignal): Promise<readonly ListedThread[]>;
  /** The messages that wait for their turn, the next one first. */
  pending(id: string, signal?: AbortSignal): Promise<readonly PendingView[]>;
  /** Another thread with what was said up to `item`. */
  fork(id: string, input?: { readonly item?: string; readonly title?: string }): Promise<ThreadView>;
  /** Other words for a message; nobody is asked anew. */
  editMessage(
    id: string,
    input: { readonly message: { readonly id?: string; readonly content: MessageContent }; readonly instead: string },
  ): Promise<EditedMessage>;
  /** `page`: the link for people, below the server's address; told this once. */
  share(id: string, input?: { readonly days?: number }): Promise<MadeShare>;
  shares(id: string, signal?: AbortSignal): Promise<readonly ShareView[]>;
  withdraw(share: string): Promise<void>;
  readShared(token: string, signal?: AbortSignal): Promise<SharedView>;
};

export function createThreadClient(server: ServerAccess): ThreadClient {
  const post = <Answer>(path: string, body: unknown) => askJson<Answer>(server, path, { method: "POST", body });
  return {
    list: (page = {}, signal) => askList(server, "/api/threads" + queryOf(page), { signal }),
    pending: (id, signal) => askList(server, `/api/threads/${id}/pending`, { signal }),
    fork: (id, input = {}) => post(`/api/threads/${id}/fork`, input),
    editMessage: (id, input) => post(`/api/threads/${id}/messages`, input),
    share: (id, input = {}) => post(`/api/threads/${id}/shares`, input),
    shares: (id, signal) => askList(server, `/api/threads/${id}/shares`, { signal }),
    async withdraw(share) {
      await ask(server, `/api/shares/${share}`, { method: "DELETE" });
    },
    readShared: (token, signal) => askJson(server, `/api/shared/${encodeURIComponent(token)}`, { signal }),
  };
}
