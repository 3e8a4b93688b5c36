import type { QuestionView } from "../protocol/threads/run-shapes.ts";
import type { RoomView } from "../protocol/agents/rooms.ts";
import type { Client } from "../client/client.ts";
import type { DecisionInput, ItemPageQuery } from "../client/decisions.ts";
import type { WorkspaceFileClient } from "../client/files.ts";
import type { Item } from "../protocol/threads/items.ts";
import type { EventWithCursor, FollowOptions } from "../client/events.ts";
import type { RoomEvent } from "../client/rooms.ts";
import { newId } from "../protocol/base/ids.ts";

export type ChatMember = { readonly id: string; readonly about: string };

/** Where one talks: with an agent, or in a room with several. */
export type ChatPlace = {
  readonly kind: "agent" | "room";
  readonly name: string;
  /** Of a conversation that is continued. */
  readonly title?: string;
  /** One's own name there; absent: all people are oneself. */
  readonly you?: string;
  /** Agents, in the order in which they joined: with `@`. */
  readonly members: readonly ChatMember[];
  /** The thread; it may be made only when the first message is said. */
  readonly thread: () => string | undefined;
  /** What is shown begins behind this seq. */
  readonly after?: number;
  readonly items: (page: ItemPageQuery) => Promise<readonly Item[]>;
  /** The runs that have begun and not ended. */
  readonly atWork: () => Promise<readonly { readonly id: string; readonly agent: string }[]>;
  /** The open questions of a run, or of all. */
  readonly questions: (run?: string) => Promise<readonly QuestionView[]>;
  readonly decide: (question: { readonly id: string; readonly runId: string }, input: DecisionInput) => Promise<void>;
  /** Undefined before something was said. */
  readonly files: () => WorkspaceFileClient | undefined;
  readonly follow: (threadId: string, options: FollowOptions) => AsyncIterable<EventWithCursor<RoomEvent>>;
  /** The model that is asked instead of the agent's own; absent where it can't be chosen. */
  readonly model?: { readonly chosen: () => string | undefined; readonly choose: (id: string | undefined) => void };
  /** The run that it begins; `waits`: behind the one at work. The same `id` is said once, however often it is sent. */
  readonly say: (
    text: string,
    id: string,
  ) => Promise<{ readonly id: string; readonly agent: string; readonly waits: boolean }>;
  /** Stops a run, or in a room whoever speaks. */
  readonly stop: (runs: readonly string[], member?: string) => Promise<void>;
  /** A new beginning; nothing is deleted. */
  readonly clear: () => Promise<ChatPlace>;
  /** The same with another conversation. */
  readonly resume: (threadId: string) => Promise<ChatPlace>;
};

/** Whether one has said it oneself. */
export function isOwn({ you }: Pick<ChatPlace, "you">, { author }: { readonly author: string | undefined }): boolean {
  return you === undefined || author === you;
}

/** A conversation with one agent; its thread is made with the first message, so that none stays empty. */
function agentPlace(
  client: Client,
  agent: ChatMember,
  known?: { readonly id: string; readonly title: string },
): ChatPlace {
  let threadId = known?.id;
  let newThread: string | undefined;
  let model: string | undefined;
  return {
    kind: "agent",
    name: agent.id.slice(1),
    ...(known && { title: known.title }),
    members: [agent],
    thread: () => threadId,
    items: async (page) => (threadId === undefined ? [] : client.items(threadId, page)),
    async atWork() {
      if (threadId === undefined) return [];
      const runs = await client.runs({ thread: threadId, limit: 20 });
      return runs.filter(({ status }) => status === "running" || status === "waiting");
    },
    questions: async (run) => (run === undefined ? client.questions() : (await client.run(run)).questions),
    async decide(question, input) {
      await client.decide(question, input);
    },
    files() {
      const id = threadId;
      return id === undefined ? undefined : client.files.at(id);
    },
    follow: client.followThread,
    model: { chosen: () => model, choose: (id) => void (model = id) },
    async say(text, messageId) {
      if (threadId === undefined) {
        newThread ??= newId();
        await client.createThread({ id: newThread, titleFrom: text.slice(0, 10_000), agent: agent.id.slice(1) });
        threadId = newThread;
      }
      const { id, pending } = await client.startRun(threadId, {
        agent: agent.id.slice(1),
        content: text,
        messageId,
        ...(model === undefined ? {} : { options: { model } }),
      });
      return { id, agent: agent.id.slice(1), waits: pending };
    },
    async stop(runs) {
      await Promise.all(runs.map((run) => client.cancel(run)));
    },
    clear: async () => agentPlace(client, agent),
    async resume(id) {
      return agentPlace(client, agent, await client.thread(id));
    },
  };
}

/** A room, which outlives whoever looks at it. */
function roomPlace(client: Client, room: RoomView): ChatPlace {
  const agents = room.members.flatMap((member) => (member.kind === "agent" ? [member] : []));
  return {
    kind: "room",
    name: room.title,
    you: room.you,
    members: agents.map(({ handle, description, activation, model, tools }) => ({
      id: `@${handle}`,
      about: [description, [activation, model, ...tools].join(", ")].filter(Boolean).join("; "),
    })),
    thread: () => room.id,
    after: room.chapter,
    items: (page) => client.rooms.messages(room.id, page),
    async atWork() {
      const { run, members } = await client.rooms.get(room.id);
      const turns = members.flatMap((member) =>
        member.kind === "agent" && member.run !== undefined ? [{ id: member.run, agent: member.handle }] : [],
      );
      return [...(run && run.status !== "queued" ? [{ id: run.id, agent: room.title }] : []), ...turns];
    },
    questions: () => client.rooms.questions(room.id),
    decide: ({ id }, input) => client.rooms.decide(room.id, id, input),
    files: () => client.rooms.files(room.id),
    follow: client.rooms.follow,
    async say(text, messageId) {
      const { run } = await client.rooms.say(room.id, { id: messageId, content: text });
      return { id: run, agent: room.title, waits: false };
    },
    async stop(_runs, agent) {
      await client.rooms.interrupt(room.id, agent);
    },
    async clear() {
      await client.rooms.clear(room.id);
      return roomPlace(client, await client.rooms.get(room.id));
    },
    resume: async (id) => roomPlace(client, await client.rooms.get(id)),
  };
}

/** Where `colloquy chat <name>` leads: to a room of that kind, the caller's latest or a new one, else to the agent. */
export async function findPlace(client: Client, name: string | undefined): Promise<ChatPlace | undefined> {
  const wanted = name?.replace(/^@/, "") ?? "assistant";
  if (name !== undefined && !name.startsWith("@")) {
    const { rooms, kinds } = await client.rooms.list();
    const room = rooms.find(({ id, kind, title }) => id === name || kind === wanted || title === wanted);
    if (room) return roomPlace(client, room);
    if (kinds.some(({ id }) => id === wanted)) return roomPlace(client, await client.rooms.create({ kind: wanted }));
  }
  const agent = (await client.agents()).find(({ id }) => id === wanted);
  return agent && agentPlace(client, { id: `@${agent.id}`, about: `${agent.description} (${agent.model})` });
}
