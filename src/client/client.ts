import type { AgentView } from "../protocol/agents/agents.ts";
import type {
  RunView,
  GrantView,
  ToolCallView,
  StartedRun,
  QuestionView,
  RunWithQuestions,
  SteeredRun,
} from "../protocol/threads/run-shapes.ts";
import type { ListedRunView } from "../protocol/threads/run-trace.ts";
import type { ThreadView } from "../protocol/threads/threads.ts";
import type { Finding } from "../protocol/people/overview.ts";
import { newId } from "../protocol/base/ids.ts";
import type { MessageContent, Item } from "../protocol/threads/items.ts";
import type { RunOptions, RunStatus } from "../protocol/threads/runs.ts";
import { type EventWithCursor, followEvents, type FollowOptions } from "./events.ts";
import type { DecisionInput, ItemPageQuery } from "./decisions.ts";
import { createFileClient, type FileClient } from "./files.ts";
import { createRoomClient, type RoomClient } from "./rooms.ts";
import { createKnowledgeClient, type KnowledgeClient } from "./knowledge.ts";
import { ask, askJson, askList, queryOf, type ServerAccess } from "./request.ts";
import { createScheduleClient, type ScheduleClient } from "./schedules.ts";
import { createUploadClient, type UploadClient } from "./uploads.ts";
import { createUserClient, type UserClient } from "./users.ts";

export type ToolCallInput = {
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly threadId?: string;
  /** false: don't wait for the result. */
  readonly wait?: boolean;
  readonly idempotencyKey?: string;
};
export type RunInput = {
  readonly agent: string;
  readonly content: MessageContent;
  /** The message's id; made here when absent. Sent again with the same one, the first run answers. */
  readonly messageId?: string;
  readonly options?: RunOptions;
  /** The connection is held, and there is nothing to come back to. */
  readonly held?: boolean;
  /** Uploads that come with it, by their ids. */
  readonly files?: readonly string[];
  /** A message of before that this one stands in place of, on a branch beside it. */
  readonly instead?: string;
  /** What happens if the thread has a run that has not ended; `queue` when absent. */
  readonly mode?: "queue" | "steer" | "interrupt" | "reject";
  readonly idempotencyKey?: string;
};

/** The native API of a server. Every verb throws ColloquyError: the server's own, or Unavailable. */
export type Client = {
  health(signal?: AbortSignal): Promise<Readonly<Record<string, unknown>>>;
  agents(signal?: AbortSignal): Promise<readonly AgentView[]>;
  /** What may be named as a model: agents too. */
  models(signal?: AbortSignal): Promise<readonly string[]>;
  createThread(
    input?: { readonly id?: string; readonly title?: string; readonly agent?: string },
    signal?: AbortSignal,
  ): Promise<ThreadView>;
  threads(
    page?: { readonly before?: string; readonly limit?: number; readonly search?: string },
    signal?: AbortSignal,
  ): Promise<readonly ThreadView[]>;
  changeThread(
    id: string,
    change: { readonly title?: string; readonly archived?: boolean },
    signal?: AbortSignal,
  ): Promise<ThreadView>;
  /** The branch that ends in this item is shown from here on. */
  chooseBranch(threadId: string, leaf: string, signal?: AbortSignal): Promise<ThreadView>;
  thread(id: string, signal?: AbortSignal): Promise<ThreadView>;
  deleteThread(id: string, signal?: AbortSignal): Promise<void>;
  /** Fewer than `limit` if they are large: at most about 4 MB. */
  items(threadId: string, page?: ItemPageQuery, signal?: AbortSignal): Promise<readonly Item[]>;
  startRun(threadId: string, input: RunInput, signal?: AbortSignal): Promise<StartedRun>;
  /** Another answer to a message of before, beside the first. */
  answerAgain(
    threadId: string,
    input: { readonly agent: string; readonly again: string; readonly options?: RunOptions },
    signal?: AbortSignal,
  ): Promise<StartedRun>;
  run(id: string, signal?: AbortSignal): Promise<RunWithQuestions>;
  runs(filter?: RunFilter, signal?: AbortSignal): Promise<readonly ListedRunView[]>;
  cancel(id: string, signal?: AbortSignal): Promise<RunView>;
  /** The same run, failed or cancelled, goes on. */
  resume(id: string, input?: ResumeRunInput, signal?: AbortSignal): Promise<StartedRun>;
  /** A new run beside this one that begins with its steps up to `step`; what these called is not called again. */
  fork(id: string, input: ForkRunInput, signal?: AbortSignal): Promise<StartedRun>;
  /** The run sees the message at its next step. */
  steer(
    id: string,
    message: { readonly id?: string; readonly content: MessageContent },
    signal?: AbortSignal,
  ): Promise<SteeredRun>;
  /** The open questions of all runs of the caller, oldest first. */
  questions(signal?: AbortSignal): Promise<readonly QuestionView[]>;
  decide(question: Pick<QuestionView, "id" | "runId">, input: DecisionInput, signal?: AbortSignal): Promise<RunView>;
  /** Past the limit at which it waits. */
  continue(id: string, signal?: AbortSignal): Promise<RunView>;
  grants(signal?: AbortSignal): Promise<readonly GrantView[]>;
  removeGrant(id: string, signal?: AbortSignal): Promise<void>;
  callTool(name: string, input?: ToolCallInput, signal?: AbortSignal): Promise<ToolCallView>;
  readonly rooms: RoomClient;
  readonly schedules: ScheduleClient;
  readonly users: UserClient;
  readonly files: FileClient;
  readonly uploads: UploadClient;
  readonly knowledge: KnowledgeClient;
  /** What the server finds about its database; admins only. */
  examine(signal?: AbortSignal): Promise<readonly Finding[]>;
  /** The run's events until its end, over lost connections too. */
  follow(runId: string, options?: FollowOptions): AsyncGenerator<EventWithCursor>;
  /** The thread's events until the signal fires. */
  followThread(threadId: string, options?: FollowOptions): AsyncGenerator<EventWithCursor>;
};

/** Of who resumes it, in place of who began it. */
export type ResumeRunInput = Pick<RunInput, "held"> & Pick<RunOptions, "onOutage">;

export type ForkRunInput = {
  readonly step: string;
  readonly model?: string;
  /** Admins only. */
  readonly instructions?: string;
  /** Instead of the message that began the run. */
  readonly input?: string;
  readonly idempotencyKey?: string;
};

type RunFilter = {
  readonly thread?: string;
  readonly status?: RunStatus;
  /** Only those that no other run began. */
  readonly root?: "true";
  readonly before?: string;
  readonly limit?: number;
};

export function createClient(server: ServerAccess): Client {
  const get = <Answer>(path: string, signal?: AbortSignal) => askJson<Answer>(server, path, { signal });
  const post = <Answer>(
    path: string,
    body: unknown,
    rest: { signal?: AbortSignal; headers?: Record<string, string> },
  ) => askJson<Answer>(server, path, { method: "POST", body, ...rest });
  const patch = <Answer>(path: string, body: unknown, signal?: AbortSignal) =>
    askJson<Answer>(server, path, { method: "PATCH", body, signal });
  const list = <Entry>(path: string, signal?: AbortSignal) => askList<Entry>(server, path, { signal });

  return {
    health: (signal) => get("/health?verbose", signal),
    agents: (signal) => list("/api/agents", signal),
    models: async (signal) => (await list<{ id: string }>("/v1/models", signal)).map(({ id }) => id),
    createThread: (input = {}, signal) => post("/api/threads", input, { signal }),
    threads: (page = {}, signal) => list("/api/threads" + queryOf(page), signal),
    thread: (id, signal) => get(`/api/threads/${id}`, signal),
    changeThread: (id, body, signal) => patch(`/api/threads/${id}`, body, signal),
    chooseBranch: (id, leaf, signal) => patch(`/api/threads/${id}`, { leaf }, signal),
    async deleteThread(id, signal) {
      await ask(server, `/api/threads/${id}`, { method: "DELETE", signal });
    },
    items: (threadId, page = {}, signal) => list(`/api/threads/${threadId}/items${queryOf(page)}`, signal),
    answerAgain: (threadId, input, signal) => post(`/api/threads/${threadId}/runs`, input, { signal }),
    startRun(
      threadId,
      { agent, content, messageId = newId(), files, instead, options, held, mode, idempotencyKey },
      signal,
    ) {
      return post(
        `/api/threads/${threadId}/runs`,
        { agent, message: { id: messageId, content, files }, instead, options, held, mode },
        { signal, headers: keyHeader(idempotencyKey) },
      );
    },
    run: (id, signal) => get(`/api/runs/${id}`, signal),
    runs: (filter = {}, signal) => list("/api/runs" + queryOf(filter), signal),
    cancel: (id, signal) => post(`/api/runs/${id}/cancel`, undefined, { signal }),
    resume: (id, input, signal) => post(`/api/runs/${id}/resume`, input, { signal }),
    fork: (id, { idempotencyKey, ...input }, signal) =>
      post(`/api/runs/${id}/fork`, input, { signal, headers: keyHeader(idempotencyKey) }),
    steer: (id, message, signal) => post(`/api/runs/${id}/steer`, { id: newId(), ...message }, { signal }),
    questions: (signal) => list("/api/questions", signal),
    decide: ({ id, runId }, input, signal) => post(`/api/runs/${runId}/decisions/${id}`, input, { signal }),
    continue: (id, signal) => post(`/api/runs/${id}/continue`, undefined, { signal }),
    grants: (signal) => list("/api/grants", signal),
    async removeGrant(id, signal) {
      await ask(server, `/api/grants/${id}`, { method: "DELETE", signal });
    },
    callTool: (name, { idempotencyKey, ...input } = {}, signal) =>
      post(`/api/tools/${encodeURIComponent(name)}/calls`, input, { signal, headers: keyHeader(idempotencyKey) }),
    rooms: createRoomClient(server),
    schedules: createScheduleClient(server),
    users: createUserClient(server),
    files: createFileClient(server),
    uploads: createUploadClient(server),
    knowledge: createKnowledgeClient(server),
    examine: (signal) => list("/api/admin/doctor", signal),
    follow: (runId, options) => followEvents(server, `/api/runs/${runId}/events`, options),
    followThread: (threadId, options) => followEvents(server, `/api/threads/${threadId}/events`, options),
  };
}

function keyHeader(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { "idempotency-key": key };
}
