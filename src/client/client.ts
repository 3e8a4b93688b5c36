import type { Role } from "../protocol/callers.ts";
import { newId } from "../protocol/ids.ts";
import type { Content, Item } from "../protocol/items.ts";
import type { RunOptions, RunRecord, RunStatus, ThreadRecord } from "../protocol/runs.ts";
import { type Followed, followEvents, type FollowOptions } from "./events.ts";
import { ask, queryOf, type Server } from "./request.ts";

export type ThreadView = Omit<ThreadRecord, "userId" | "hidden">;
export type RunView = Omit<RunRecord, "userId" | "epoch" | "takeovers">;
export type StartedRun = {
  readonly id: string;
  readonly threadId: string;
  readonly cursor: string;
  readonly pending: boolean;
  readonly replayed: boolean;
};
export type RunInput = {
  readonly agent: string;
  readonly content: Content;
  /** The message's id; made here when absent. Sent again with the same one, the first run answers. */
  readonly messageId?: string;
  readonly options?: RunOptions;
  readonly idempotencyKey?: string;
};
export type AgentView = {
  readonly id: string;
  readonly description: string;
  readonly model: string;
  readonly strategy: string;
  readonly tools: readonly string[];
};

export type UserView = { readonly id: string; readonly name: string; readonly role: Role; readonly disabled: boolean };

/** The native API of a server. Every verb throws ColloquyError: the server's own, or Unavailable. */
export type Client = {
  health(signal?: AbortSignal): Promise<Readonly<Record<string, unknown>>>;
  agents(signal?: AbortSignal): Promise<readonly AgentView[]>;
  createThread(
    input?: { readonly id?: string; readonly title?: string; readonly agent?: string },
    signal?: AbortSignal,
  ): Promise<ThreadView>;
  threads(
    page?: { readonly before?: string; readonly limit?: number },
    signal?: AbortSignal,
  ): Promise<readonly ThreadView[]>;
  thread(id: string, signal?: AbortSignal): Promise<ThreadView>;
  deleteThread(id: string, signal?: AbortSignal): Promise<void>;
  items(threadId: string, page?: ItemPage, signal?: AbortSignal): Promise<readonly Item[]>;
  startRun(threadId: string, input: RunInput, signal?: AbortSignal): Promise<StartedRun>;
  run(id: string, signal?: AbortSignal): Promise<RunView>;
  runs(filter?: RunFilter, signal?: AbortSignal): Promise<readonly RunView[]>;
  cancel(id: string, signal?: AbortSignal): Promise<RunView>;
  users(signal?: AbortSignal): Promise<readonly UserView[]>;
  /** The key is told this once. */
  addUser(
    user: { readonly name: string; readonly role: Role },
    signal?: AbortSignal,
  ): Promise<{ readonly user: UserView; readonly key: string }>;
  /** The run's events until its end, over lost connections too. */
  follow(runId: string, options?: FollowOptions): AsyncGenerator<Followed>;
  /** The thread's events until the signal fires. */
  followThread(threadId: string, options?: FollowOptions): AsyncGenerator<Followed>;
};

type ItemPage = {
  readonly after?: number;
  readonly before?: number;
  readonly limit?: number;
  readonly order?: "asc" | "desc";
};
type RunFilter = {
  readonly thread?: string;
  readonly status?: RunStatus;
  readonly before?: string;
  readonly limit?: number;
};

export function createClient(server: Server): Client {
  const get = async <Answer>(path: string, signal?: AbortSignal) =>
    (await (await ask(server, path, { signal })).json()) as Answer;
  const post = async <Answer>(
    path: string,
    body: unknown,
    rest: { signal?: AbortSignal; headers?: Record<string, string> },
  ) => (await (await ask(server, path, { method: "POST", body, ...rest })).json()) as Answer;
  const list = async <Entry>(path: string, signal?: AbortSignal) =>
    (await get<{ data: readonly Entry[] }>(path, signal)).data;

  return {
    health: (signal) => get("/health?verbose", signal),
    agents: (signal) => list("/api/agents", signal),
    createThread: (input = {}, signal) => post("/api/threads", input, { signal }),
    threads: (page = {}, signal) => list("/api/threads" + queryOf(page), signal),
    thread: (id, signal) => get(`/api/threads/${id}`, signal),
    async deleteThread(id, signal) {
      await ask(server, `/api/threads/${id}`, { method: "DELETE", signal });
    },
    items: (threadId, page = {}, signal) => list(`/api/threads/${threadId}/items${queryOf(page)}`, signal),
    startRun(threadId, { agent, content, messageId = newId(), options, idempotencyKey }, signal) {
      const headers: Record<string, string> = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
      return post(
        `/api/threads/${threadId}/runs`,
        { agent, message: { id: messageId, content }, options },
        { signal, headers },
      );
    },
    run: (id, signal) => get(`/api/runs/${id}`, signal),
    runs: (filter = {}, signal) => list("/api/runs" + queryOf(filter), signal),
    cancel: (id, signal) => post(`/api/runs/${id}/cancel`, undefined, { signal }),
    users: (signal) => list("/api/admin/users", signal),
    addUser: (user, signal) => post("/api/admin/users", user, { signal }),
    follow: (runId, options) => followEvents(server, `/api/runs/${runId}/events`, options),
    followThread: (threadId, options) => followEvents(server, `/api/threads/${threadId}/events`, options),
  };
}
