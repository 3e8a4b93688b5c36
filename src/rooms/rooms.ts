import { setTimeout as sleep } from "node:timers/promises";
import type { RoomView, ChosenMember } from "../protocol/agents/rooms.ts";
import type { AgentDefinition, AgentRegistry } from "../protocol/agents/agents.ts";
import { type Caller, mayUse } from "../protocol/base/callers.ts";
import { ColloquyError, Conflict, AccessDenied, InvalidInput, NotFound } from "../protocol/base/errors.ts";
import { isId } from "../protocol/base/ids.ts";
import type { ItemOf } from "../protocol/threads/items.ts";
import type { Query } from "../protocol/agents/tools.ts";
import type { Approvals, RunDecision, Runs, RunStart, StartInput, Threads } from "../run/runs.ts";
import { presentInEach } from "../store/rooms/room-presence.ts";
import {
  addPerson,
  changeRoom,
  findAsker,
  findRoom,
  findUserByName,
  insertRoom,
  listPeople,
  listPeopleOf,
  listRooms,
  readChapters,
  readLive,
  readLiveOf,
  removePerson,
  type RoomRow,
} from "../store/rooms/rooms.ts";
import { entryOf, nameOf, ownEntry, roomAgent, unknownMembers } from "./room-agents.ts";
import { handleFor, ownersHandle } from "./mentions.ts";

import { decideAuthority, ownerAuthority, readAuthority, stopAuthority } from "./room-authority.ts";
import { roomFileSchema, type RoomFile } from "./room-file.ts";
import { isContinue } from "./room-log.ts";
import { viewOf } from "./room-view.ts";

/** What differs from a room's kind, or the whole of one that was put together. */
export type RoomChange = Partial<Pick<RoomFile, "turns">> & { readonly members?: readonly ChosenMember[] };

export type NewRoom = RoomChange & { readonly id?: string; readonly kind?: string; readonly title?: string };

/** Rooms as their people use them. Each verb throws NotFound for a room that the caller is not in. */
export type Rooms = {
  kinds(caller: Caller): readonly AgentDefinition[];
  list(caller: Caller, limit: number): Promise<readonly RoomView[]>;
  create(caller: Caller, room: NewRoom): Promise<RoomView>;
  get(caller: Caller, id: string): Promise<RoomView>;
  change(caller: Caller, id: string, change: { readonly title?: string } & RoomChange): Promise<RoomView>;
  remove(caller: Caller, id: string): Promise<void>;
  join(caller: Caller, id: string): Promise<RoomView>;
  addPerson(caller: Caller, id: string, name: string): Promise<RoomView>;
  removePerson(caller: Caller, id: string, handle: string): Promise<void>;
  say(
    caller: Caller,
    id: string,
    input: Pick<StartInput, "message" | "idempotency">,
  ): Promise<RunStart & { readonly messageId?: string }>;
  /** The runs of the turns that were told to stop. */
  interrupt(caller: Caller, id: string, agent?: string): Promise<readonly string[]>;
  beginChapter(caller: Caller, id: string): Promise<RoomView>;
  questions(caller: Caller, id: string): Promise<readonly ItemOf<"question">[]>;
  decide(
    caller: Caller,
    id: string,
    answer: { readonly questionId: string; readonly input: RunDecision },
  ): Promise<void>;
  /** As its owner sees the thread: for reading what a member may read. */
  ownerOf(caller: Caller, id: string): Promise<Caller>;
};

export type RoomsDeps = {
  readonly query: Query;
  readonly runs: Runs;
  readonly threads: Threads;
  readonly approvals: Approvals;
  /** Those with the rooms among them. */
  readonly agents: AgentRegistry;
  readonly files: readonly RoomFile[];
};

/** The agent that leads a room which was put together. */
const composed = "room";

/** For the end of what was interrupted, before a new chapter begins. */
const maxLooks = 50;
const betweenLooksMs = 100;

export function createRooms({ query, runs, threads, approvals, agents, files }: RoomsDeps): Rooms {
  const mayWorkWith = (caller: Caller, kind: string) => mayUse(caller, "agent", kind) || mayUse(caller, "room", kind);

  async function find(caller: Caller, id: string): Promise<RoomRow> {
    const room = isId(id) ? await findRoom(query, caller.userId, id) : undefined;
    if (!room) throw noRoom(id);
    return room;
  }

  async function findOwn(caller: Caller, id: string): Promise<RoomRow> {
    const room = await find(caller, id);
    if (room.ownerId !== caller.userId) throw new AccessDenied(403, "Only the room's owner may do this.");
    return room;
  }

  const fileOf = (kind: string | null) => files.find(({ id }) => id === kind);

  /** The room as an agent, as it is by now. Throws Conflict if its kind or an agent of it is gone. */
  function agentOf({ kind, spec }: Pick<RoomRow, "kind" | "spec">): AgentDefinition {
    const file = fileOf(kind);
    if (kind !== null && !file)
      throw new Conflict(`The room kind ${kind} no longer exists.`, { code: "room_kind_gone" });
    const { turns, members: chosen } = (spec ?? {}) as RoomChange;
    const members = chosen?.map((member) => entryOf(member, file));
    const base = file ?? roomFileSchema.parse({ id: composed, members });
    const whole = {
      ...base,
      ...(turns === undefined ? {} : { turns }),
      ...(members === undefined ? {} : { members }),
    };
    const gone = unknownMembers(whole, agents);
    if (gone.length > 0)
      throw new Conflict(`Agent ${gone.join(", ")} no longer exists. The room's owner can change its members.`, {
        code: "room_agent_gone",
      });
    return roomAgent(whole, agents);
  }

  /** The same, or why nobody can work in it. */
  function stateOf(room: RoomRow): { readonly agent: AgentDefinition } | { readonly problem: string } {
    try {
      return { agent: agentOf(room) };
    } catch (error) {
      if (!(error instanceof ColloquyError)) throw error;
      return { problem: error.message };
    }
  }

  /** As many statements for many as for one. */
  async function viewsOf(rows: readonly RoomRow[]): Promise<RoomView[]> {
    const ids = rows.map(({ id }) => id);
    const [people, present, live, chapters] = await Promise.all([
      listPeopleOf(query, ids),
      presentInEach(query, ids),
      readLiveOf(query, ids),
      readChapters(query, ids),
    ]);
    return rows.map((room) =>
      viewOf(room, {
        ...stateOf(room),
        people: people.get(room.id) ?? [],
        present: present.get(room.id) ?? [],
        live: live.get(room.id) ?? { root: undefined, turns: [] },
        chapter: chapters.get(room.id) ?? 0,
      }),
    );
  }

  function checkMembers(caller: Caller, kind: string | null, { members = [] }: RoomChange): void {
    const names = members.map(nameOf);
    const twice = names.find((name, at) => names.indexOf(name) < at);
    if (twice !== undefined) throw new InvalidInput(`${twice} is named twice.`, { param: "members" });
    for (const name of strangersOf(kind, members))
      if (!agents.has(name) || !mayWorkWith(caller, name) || agents.get(name).room)
        throw new InvalidInput(`Agent ${name} not found, or it can't join.`, { param: "members" });
  }

  /** Those that are not the kind's own. */
  function strangersOf(kind: string | null, members: readonly ChosenMember[]): string[] {
    const file = fileOf(kind);
    return members.filter((member) => !ownEntry(member, file)).map(nameOf);
  }

  async function enter(
    room: Pick<RoomRow, "id" | "kind" | "spec">,
    user: { readonly id: string; readonly name: string },
  ) {
    const people = await listPeople(query, room.id);
    if (people.some(({ userId }) => userId === user.id)) return;
    const members = agentOf(room).room!.members.map(({ agent }) => agent.id);
    const taken = [...members, ...people.map(({ handle }) => handle), ownersHandle];
    await addPerson(query, { roomId: room.id, userId: user.id, handle: handleFor(user.name, taken) });
  }

  const rooms: Rooms = {
    kinds: (caller) =>
      files.flatMap((file) =>
        // An agent of the same name stands before it.
        mayWorkWith(caller, file.id) && unknownMembers(file, agents).length === 0 && agents.get(file.id).room
          ? [agents.get(file.id)]
          : [],
      ),
    async list(caller, limit) {
      return viewsOf(await listRooms(query, caller.userId, limit));
    },
    async get(caller, id) {
      const [view] = await viewsOf([await find(caller, id)]);
      return view!;
    },
    async create(caller, { id, kind, title, ...spec }) {
      if (kind === undefined && spec.members === undefined)
        throw new InvalidInput("Choose a kind of room, or the agents in it.", { param: "kind" });
      if (kind !== undefined && !rooms.kinds(caller).some((known) => known.id === kind))
        throw new NotFound(`Kind of room ${JSON.stringify(kind)} not found.`, { code: "room_kind_not_found" });
      checkMembers(caller, kind ?? null, spec);
      const kept = Object.keys(spec).length > 0 ? spec : undefined;
      const agent = agentOf({ kind: kind ?? null, spec: kept ?? null });
      const thread = await threads.createThread(caller, {
        title: title ?? agent.room!.title,
        agent: agent.id,
        ...(id === undefined ? {} : { id }),
      });
      const isTaken = agent.room!.members.some((member) => member.agent.id === ownersHandle);
      await insertRoom(query, {
        threadId: thread.id,
        ownerId: caller.userId,
        kind: kind ?? null,
        spec: kept,
        handle: isTaken ? "owner" : ownersHandle,
      });
      return rooms.get(caller, thread.id);
    },
    async change(caller, id, { title, ...spec }) {
      const room = await findOwn(caller, id);
      checkMembers(caller, room.kind, spec);
      const next = { ...(room.spec as object | null), ...spec };
      // A title may change in one where nobody can work any more.
      if (Object.keys(spec).length > 0) agentOf({ kind: room.kind, spec: next });
      await changeRoom(query, { id, title, ...(Object.keys(spec).length > 0 ? { spec: next } : {}) });
      return rooms.get(caller, id);
    },
    async remove(caller, id) {
      await findOwn(caller, id);
      await threads.deleteThread(caller, id);
    },
    async join(caller, id) {
      const [row] = isId(id)
        ? await query<Pick<RoomRow, "id" | "kind" | "spec">>(
            "select thread_id as id, kind, spec from rooms where thread_id = $1",
            [id],
          )
        : [];
      const mine = row && (await findRoom(query, caller.userId, id));
      if (row && !mine) {
        const agent = agentOf(row);
        if (agent.room!.people !== "everybody" || !mayWorkWith(caller, agent.id)) throw noRoom(id);
        await enter(row, { id: caller.userId, name: caller.name });
      }
      return rooms.get(caller, id);
    },
    async addPerson(caller, id, name) {
      const room = await findOwn(caller, id);
      const user = await findUserByName(query, name);
      if (!user) throw new NotFound(`Account ${JSON.stringify(name)} not found.`, { code: "user_not_found" });
      await enter(room, user);
      return rooms.get(caller, id);
    },
    async removePerson(caller, id, handle) {
      const room = await find(caller, id);
      if (room.ownerId !== caller.userId && room.handle !== handle)
        throw new AccessDenied(403, "Only the room's owner or the member who leaves can do this.");
      const person = (await listPeople(query, id)).find((one) => one.handle === handle);
      if (person?.userId === room.ownerId)
        throw new Conflict("The owner can't leave the room; delete it instead.", { code: "owner_stays" });
      await removePerson(query, id, handle);
      // Nothing goes on in the name of somebody who is gone; what they began for the room stops as a whole.
      const { root, turns } = await readLive(query, id);
      if (!person) return;
      const cancel = (run: string) => runs.cancel(stopAuthority(caller, id, person.userId), run);
      if (root && root.userId === person.userId) await cancel(root.id);
      else for (const { run, userId } of turns) if (userId === person.userId) await cancel(run);
    },
    async say(caller, id, { message, idempotency }) {
      const room = await find(caller, id);
      const agent = agentOf(room);
      if (room.kind !== null && !mayWorkWith(caller, room.kind))
        throw new AccessDenied(403, `You don't have permission to use the agents of ${room.kind}.`);
      const { members = [] } = (room.spec ?? {}) as RoomChange;
      const barred = strangersOf(room.kind, members).filter((name) => !mayWorkWith(caller, name));
      if (barred.length > 0) throw new AccessDenied(403, `You don't have permission to use ${barred.join(", ")}.`);
      const isLift = typeof message.content === "string" && isContinue(message.content);
      const limit = isLift ? await openLimit(caller, room) : undefined;
      const started = await runs.start(caller, {
        agent: agent.id,
        as: agent,
        threadId: id,
        room: { ownerId: room.ownerId, handle: room.handle },
        message,
        mode: "steer",
        ...(idempotency === undefined ? {} : { idempotency }),
      });
      if (limit !== undefined && !started.replayed) await liftLimit(caller, { id, limit });
      return started;
    },
    async interrupt(caller, id, agent) {
      const room = await find(caller, id);
      const { root, turns } = await readLive(query, room.id);
      const meant = turns.filter((turn) => agent === undefined || turn.agent === agent);
      // Anybody in the room may, in whoever's name the agents work.
      const cancel = (run: string, userId: string) => runs.cancel(stopAuthority(caller, room.id, userId), run);
      if (agent !== undefined) for (const { run, userId } of meant) await cancel(run, userId);
      // Its turns end with it, and keep what they have said.
      else if (root) await cancel(root.id, root.userId);
      return meant.map(({ run }) => run);
    },
    async beginChapter(caller, id) {
      const room = await find(caller, id);
      await rooms.interrupt(caller, id);
      for (let looks = 0; looks < maxLooks && (await readLive(query, id)).root; looks++) await sleep(betweenLooksMs);
      await threads.beginChapter({ threadId: id, by: room.handle });
      return rooms.get(caller, id);
    },
    async questions(caller, id) {
      const room = await find(caller, id);
      const { root, turns } = await readLive(query, room.id);
      const all = [...(root ? [{ run: root.id, userId: root.userId }] : []), ...turns];
      const asked = await Promise.all(
        all.map(({ run, userId }) => approvals.questions(readAuthority(caller, userId), run)),
      );
      return [...new Map(asked.flat().map((question) => [question.id, question])).values()];
    },
    async decide(caller, id, { questionId, input }) {
      const room = await find(caller, id);
      const asker = isId(questionId) ? await findAsker(query, { roomId: id, questionId }) : undefined;
      if (!asker) throw new NotFound(`The room has no question ${questionId}.`, { code: "question_not_found" });
      if (asker.userId !== caller.userId && room.ownerId !== caller.userId)
        throw new AccessDenied(403, "Only the person who started this or the room's owner can decide.");
      const isOwn = asker.userId === caller.userId;
      // It would be done with rights that the owner may not have.
      if (!isOwn && input.decision === "allow" && input.arguments !== undefined)
        throw new AccessDenied(
          403,
          "Only the person who started this can change the arguments. Allow it as it is, or deny it.",
        );
      // What is to hold from now on is a person's own word, for that person's own runs.
      const { always: _always, here: _here, read: _read, ...once } = input;
      const decision = isOwn ? input : once;
      await approvals.decide(decideAuthority(caller, room, asker.userId), asker.run, { questionId, input: decision });
    },
    async ownerOf(caller, id) {
      const { ownerId } = await find(caller, id);
      return ownerAuthority(caller, ownerId);
    },
  };

  /** The question of a room that waits at a limit of its runs. */
  async function openLimit(caller: Caller, room: RoomRow): Promise<string | undefined> {
    const open = await rooms.questions(caller, room.id);
    return open.find(({ body }) => body.reason === "limit")?.id;
  }

  /** By "continue". Whoever may not lift it, or comes second, has only said it. */
  async function liftLimit(caller: Caller, { id, limit }: { readonly id: string; readonly limit: string }) {
    try {
      await rooms.decide(caller, id, { questionId: limit, input: { decision: "continue" } });
    } catch (error) {
      if (!(error instanceof AccessDenied || error instanceof Conflict)) throw error;
    }
  }

  return rooms;
}

function noRoom(id: string): NotFound {
  return new NotFound(`Room ${id} not found.`, { code: "room_not_found" });
}
