import { newId } from "../protocol/ids.ts";
import type { Content } from "../protocol/items.ts";
import { type Followed, followEvents, type FollowOptions } from "./events.ts";
import { ask, type Server } from "./request.ts";

export type RoomMember =
  | {
      readonly kind: "agent";
      readonly handle: string;
      readonly activation: "always" | "mention";
      readonly model: string;
      readonly tools: readonly string[];
      readonly state: "idle" | "thinking" | "waiting";
      readonly run?: string;
    }
  | {
      readonly kind: "person";
      readonly handle: string;
      readonly name: string;
      readonly role: "owner" | "member";
      readonly present: boolean;
    };
export type RoomView = {
  /** Its thread's. */
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly members: readonly RoomMember[];
  /** The caller's handle. */
  readonly you: string;
  /** Behind this seq the chapter begins that agents know of. */
  readonly chapter: number;
  readonly cursor: string;
  readonly run: { readonly id: string; readonly status: string } | null;
};
export type RoomKind = { readonly id: string; readonly title: string; readonly description: string };

export type RoomClient = {
  list(signal?: AbortSignal): Promise<{ readonly rooms: readonly RoomView[]; readonly kinds: readonly RoomKind[] }>;
  create(
    input: { readonly kind?: string; readonly title?: string; readonly members?: readonly string[] },
    signal?: AbortSignal,
  ): Promise<RoomView>;
  get(id: string, signal?: AbortSignal): Promise<RoomView>;
  say(
    id: string,
    message: { readonly id?: string; readonly content: Content },
    signal?: AbortSignal,
  ): Promise<{ readonly run: string; readonly message: string; readonly cursor: string }>;
  /** The turn of one agent, or of all. */
  interrupt(id: string, agent?: string, signal?: AbortSignal): Promise<{ readonly interrupted: readonly string[] }>;
  /** Past what stopped the agents. */
  continue(id: string, signal?: AbortSignal): Promise<void>;
  clear(id: string, signal?: AbortSignal): Promise<void>;
  /** The room's events until the signal fires. */
  follow(id: string, options?: FollowOptions): AsyncGenerator<Followed>;
};

export function createRoomClient(server: Server): RoomClient {
  const json = async <Answer>(path: string, options: Parameters<typeof ask>[2]) =>
    (await (await ask(server, `/api/rooms${path}`, options)).json()) as Answer;
  const post = <Answer>(path: string, body: unknown, signal?: AbortSignal) =>
    json<Answer>(path, { method: "POST", body, signal });
  return {
    async list(signal) {
      const { data, kinds } = await json<{ data: readonly RoomView[]; kinds: readonly RoomKind[] }>("", { signal });
      return { rooms: data, kinds };
    },
    create: (input, signal) => post("", input, signal),
    get: (id, signal) => json(`/${id}`, { signal }),
    say: (id, message, signal) => post(`/${id}/messages`, { id: newId(), ...message }, signal),
    interrupt: (id, agent, signal) => post(`/${id}/interrupt`, agent === undefined ? {} : { agent }, signal),
    async continue(id, signal) {
      await post(`/${id}/continue`, undefined, signal);
    },
    async clear(id, signal) {
      await post(`/${id}/clear`, undefined, signal);
    },
    follow: (id, options) => followEvents(server, `/api/rooms/${id}/events`, options),
  };
}
