import type { QuestionView } from "../protocol/threads/run-shapes.ts";
import type {
  RoomView,
  RoomKind,
  ChosenMember,
  InterruptionView,
  PresenceEvent,
  RoomList,
  StartedInRoom,
} from "../protocol/agents/rooms.ts";
import { newId } from "../protocol/base/ids.ts";
import type { RunEvent } from "../protocol/threads/events.ts";
import type { MessageContent, Item } from "../protocol/threads/items.ts";
import type { DecisionInput, ItemPageQuery } from "./decisions.ts";
import { type EventWithCursor, followEvents, type FollowOptions } from "./events.ts";
import { createWorkspaceFileClient, type WorkspaceFileClient } from "./files.ts";
import { ask, type ClientRequest, askJson, askList, queryOf, type ServerAccess } from "./request.ts";

/** Events of a room, and which of its people are present. */
export type RoomEvent = RunEvent | PresenceEvent;

export type RoomClient = {
  list(signal?: AbortSignal): Promise<{ readonly rooms: readonly RoomView[]; readonly kinds: readonly RoomKind[] }>;
  create(
    input: { readonly kind?: string; readonly title?: string; readonly members?: readonly ChosenMember[] },
    signal?: AbortSignal,
  ): Promise<RoomView>;
  change(
    id: string,
    input: { readonly title?: string; readonly turns?: RoomView["turns"]; readonly members?: readonly ChosenMember[] },
    signal?: AbortSignal,
  ): Promise<RoomView>;
  remove(id: string, signal?: AbortSignal): Promise<void>;
  /** Joins a room that is open to everyone. */
  join(id: string, signal?: AbortSignal): Promise<RoomView>;
  /** Adds a person by account name. */
  invite(id: string, user: string, signal?: AbortSignal): Promise<void>;
  /** Removes the caller, or for the owner anyone. */
  leave(id: string, handle: string, signal?: AbortSignal): Promise<void>;
  messages(id: string, page?: ItemPageQuery, signal?: AbortSignal): Promise<readonly Item[]>;
  questions(id: string, signal?: AbortSignal): Promise<readonly QuestionView[]>;
  decide(id: string, question: string, input: DecisionInput, signal?: AbortSignal): Promise<void>;
  /** The room's workspace. */
  files(id: string): WorkspaceFileClient;
  get(id: string, signal?: AbortSignal): Promise<RoomView>;
  say(
    id: string,
    message: { readonly id?: string; readonly content: MessageContent; readonly files?: readonly string[] },
    signal?: AbortSignal,
  ): Promise<StartedInRoom>;
  /** The turn of one agent, or of all. */
  interrupt(id: string, agent?: string, signal?: AbortSignal): Promise<InterruptionView>;
  /** Past what stopped the agents. */
  continue(id: string, signal?: AbortSignal): Promise<void>;
  clear(id: string, signal?: AbortSignal): Promise<void>;
  /** The room's events until the signal fires. */
  follow(id: string, options?: FollowOptions): AsyncGenerator<EventWithCursor<RoomEvent>>;
};

export function createRoomClient(server: ServerAccess): RoomClient {
  const json = <Answer>(path: string, asking: ClientRequest) => askJson<Answer>(server, `/api/rooms${path}`, asking);
  const post = <Answer>(path: string, body: unknown, signal?: AbortSignal) =>
    json<Answer>(path, { method: "POST", body, signal });
  return {
    async list(signal) {
      const { data, kinds } = await json<RoomList>("", { signal });
      return { rooms: data, kinds };
    },
    create: (input, signal) => post("", input, signal),
    change: (id, input, signal) => json(`/${id}`, { method: "PATCH", body: input, signal }),
    async remove(id, signal) {
      await ask(server, `/api/rooms/${id}`, { method: "DELETE", signal });
    },
    join: (id, signal) => post(`/${id}/join`, undefined, signal),
    async invite(id, user, signal) {
      await ask(server, `/api/rooms/${id}/members`, { method: "POST", body: { user }, signal });
    },
    async leave(id, handle, signal) {
      await ask(server, `/api/rooms/${id}/members/${encodeURIComponent(handle)}`, { method: "DELETE", signal });
    },
    messages: (id, page = {}, signal) => askList(server, `/api/rooms/${id}/messages${queryOf(page)}`, { signal }),
    questions: (id, signal) => askList(server, `/api/rooms/${id}/questions`, { signal }),
    async decide(id, question, input, signal) {
      await ask(server, `/api/rooms/${id}/decisions/${question}`, { method: "POST", body: input, signal });
    },
    files: (id) => createWorkspaceFileClient(server, `/api/rooms/${id}/files`),
    get: (id, signal) => json(`/${id}`, { signal }),
    say: (id, message, signal) => post(`/${id}/messages`, { id: newId(), ...message }, signal),
    interrupt: (id, agent, signal) => post(`/${id}/interrupt`, agent === undefined ? {} : { agent }, signal),
    async continue(id, signal) {
      await post(`/${id}/continue`, undefined, signal);
    },
    async clear(id, signal) {
      await post(`/${id}/clear`, undefined, signal);
    },
    follow: (id, options) => followEvents<RoomEvent>(server, `/api/rooms/${id}/events`, options),
  };
}
