import type { RoomGuards, Activation } from "../protocol/agents/rooms.ts";

/** A message of the room as the order of turns sees it. `from` and `mentions` are handles. */
export type RoomMessage = {
  readonly id: string;
  readonly seq: number;
  readonly from: string;
  readonly mentions: readonly string[];
  readonly text: string;
  /** What an agent ran that then said nothing. */
  readonly ran?: string;
  /** It was broken off: remembered, but nobody goes on from it. */
  readonly isBroken?: boolean;
  /** Who hears it, if not all. */
  readonly hearers?: readonly string[];
};

/** What an agent did when a message woke it. `waiting`: a person must decide first. */
export type TurnOutcome = {
  readonly agent: string;
  /** ID of the message that woke the agent. */
  readonly answers: string;
  readonly begunAt: number;
  readonly outcome: "open" | "waiting" | "spoke" | "passed" | "stopped" | "failed";
  /** It waits, but for a model that is away: nobody knows how long, so the others go on. */
  readonly isAway?: boolean;
};

export type RoomLog = {
  /** In the order of their seq. */
  readonly messages: readonly RoomMessage[];
  /** In the order in which they began. */
  readonly turns: readonly TurnOutcome[];
  /** Of an agent's message: the message that its turn answered. */
  readonly answered: ReadonlyMap<string, string>;
  /** What people said and what is to be answered now; of what was said before only the words count. */
  readonly asked: ReadonlySet<string>;
  /** Where a guard stopped a chain, by the message that nobody answered. */
  readonly halted: ReadonlySet<string>;
  /** A person's "continue": the message that it takes up. */
  readonly resumes: ReadonlyMap<string, string>;
};

export type Order = {
  readonly members: readonly {
    readonly id: string;
    readonly activation: Activation;
    /** Of one that always listens: it is not woken by this message. */
    readonly sleeps?: (message: RoomMessage) => boolean;
  }[];
  readonly turns: "sequential" | "parallel";
  readonly guards: RoomGuards;
};

export type TurnToTake = { readonly agent: string; readonly answers: string };
export type Halt = { readonly about: string; readonly code: GuardCode };
export type GuardCode = "room_turns" | "room_pair" | "room_repeats";

/** `halt`: a guard says that the chain of this message ends here. Neither: it is the people's turn, or somebody is still at it. */
export type NextTurns = { readonly turns: readonly TurnToTake[]; readonly halt?: Halt };

/**
 * Who would answer a message, in order: who asked its writer for it, then the agents that it wakes. Never its writer.
 */
export function candidatesFor(
  message: RoomMessage,
  { messages }: Pick<RoomLog, "messages">,
  { members }: Order,
): string[] {
  const before = messages.filter(({ seq }) => seq < message.seq);
  const initiator = initiatorOf(message, before);
  const asker = members.filter(({ id }) => id === initiator);
  const woken = members.filter(({ id, activation, sleeps }) => {
    // It asked the writer something, and waits for the answer.
    const awaits = before.findLast(({ from }) => from === id)?.mentions.includes(message.from) ?? false;
    return awaits || (activation === "always" && !sleeps?.(message)) || message.mentions.includes(id);
  });
  return [...new Set([...asker, ...woken].map(({ id }) => id))].filter(
    (id) => id !== message.from && isHeardBy(message, id),
  );
}

function isHeardBy({ hearers }: RoomMessage, agent: string): boolean {
  return hearers?.includes(agent) ?? true;
}

/** Whether only its listening to everything brings it here. */
export function isOnlyListener(
  agent: string,
  message: RoomMessage,
  { log, order }: { log: RoomLog; order: Order },
): boolean {
  const members = order.members.map((member) =>
    member.id === agent ? { id: agent, activation: "mention" as const } : member,
  );
  return !candidatesFor(message, log, { ...order, members }).includes(agent);
}

/** Who mentioned the writer since it last spoke. */
function initiatorOf({ from }: RoomMessage, before: readonly RoomMessage[]): string | undefined {
  for (const message of before.toReversed()) {
    if (message.from === from) return undefined;
    if (message.mentions.includes(from)) return message.from;
  }
  return undefined;
}

/** The message of a person with which its chain began. */
export function originOf(id: string, { answered }: Pick<RoomLog, "answered">): string {
  let origin = id;
  for (let answers = answered.get(origin); answers !== undefined; answers = answered.get(origin)) origin = answers;
  return origin;
}

/**
 * What stays as it is while a log grows: whom a message wakes, and that it is dealt with. For one order only, and none in which
 * somebody sleeps on: that is decided later.
 */
export type TurnOrderMemo = { readonly wanted: Map<string, readonly string[]>; readonly settled: Set<string> };

/** Whose turn it is, by what was said and done. With a memo, what was settled before is not looked at again. */
export function nextTurns(log: RoomLog, order: Order, memo?: TurnOrderMemo): NextTurns {
  const view = viewOf(log, order, memo);
  // One that is still at it may pass in the end.
  const isFinal = order.turns === "parallel" || !log.turns.some(({ outcome }) => isBusy(outcome));
  const open = view.heads.filter((head) => {
    if (!view.isDealtWith(head) && view.left(head).length > 0) return true;
    if (isFinal) memo?.settled.add(head.id);
    return false;
  });
  const turns: TurnToTake[] = [];
  const busy = new Set(log.turns.filter(({ outcome }) => isBusy(outcome)).map(({ agent }) => agent));
  for (const head of open) {
    const left = view.left(head);
    const halt = guardAt(head, log, order);
    if (halt) return { turns: [], halt };
    if (order.turns === "sequential") {
      // One that waits for a person may do so for long.
      const free = left.find((agent) => !busy.has(agent));
      if (free !== undefined) return { turns: [{ agent: free, answers: head.id }] };
      continue;
    }
    for (const agent of left) {
      if (busy.has(agent)) continue;
      busy.add(agent);
      turns.push({ agent, answers: head.id });
    }
  }
  if (order.turns === "parallel") return { turns };
  const owed = view.owed().find(({ agent }) => !busy.has(agent));
  if (!owed) return { turns: [] };
  const halt = guardAt(owed.message, log, order);
  return halt ? { turns: [], halt } : { turns: [{ agent: owed.agent, answers: owed.message.id }] };
}

/** Whom somebody in the chain of this message named before it, and who has had no turn since. */
export function pendingMentions(about: string, log: RoomLog, order: Order): string[] {
  const origin = originOf(about, log);
  const owed = viewOf(log, order, undefined).owed();
  const ofChain = owed.filter(({ message: { id } }) => id !== about && originOf(id, log) === origin);
  return [...new Set(ofChain.map(({ agent }) => agent))];
}

function isBusy(outcome: TurnOutcome["outcome"]): boolean {
  return outcome === "open" || outcome === "waiting";
}

function viewOf(log: RoomLog, order: Order, memo: TurnOrderMemo | undefined) {
  const byId = new Map(log.messages.map((message) => [message.id, message]));
  const person = (id: string) => byId.get(originOf(id, log))?.from;
  const halted = new Set([...log.halted].map((id) => originOf(id, log)));
  const isOpen = (message: RoomMessage) => {
    const origin = originOf(message.id, log);
    return log.asked.has(origin) && !halted.has(origin);
  };
  /** Turns that the agent began when it could see the message, for the same person. */
  const turnsAfter = (message: RoomMessage, agent: string) =>
    log.turns.filter(
      (turn) => turn.agent === agent && turn.begunAt > message.seq && person(turn.answers) === person(message.id),
    );
  const wanted = (message: RoomMessage): readonly string[] => {
    const known = memo?.wanted.get(message.id);
    if (known) return known;
    const earlier = byId.get(log.resumes.get(message.id) ?? "");
    const found = candidatesFor(earlier ?? message, log, order);
    memo?.wanted.set(message.id, found);
    return found;
  };
  const isSettled = ({ id }: RoomMessage) => memo?.settled.has(id) ?? false;
  /** Whom nothing is to be expected of: it was woken by this message, and passed or failed. */
  const isThrough = (message: RoomMessage, agent: string) =>
    log.turns.some(
      (turn) => turn.agent === agent && turn.answers === message.id && ["passed", "failed"].includes(turn.outcome),
    );
  const asked = log.messages.filter(({ id }) => log.asked.has(id));
  const people = asked.filter(isOpen);
  const agents = log.messages.filter((message) => isWhole(message, log) && isOpen(message));
  return {
    /** Messages that may want an answer, those of people first. */
    heads: [...people, ...agents].filter((head) => !isSettled(head)),
    isDealtWith: (message: RoomMessage): boolean =>
      order.turns === "sequential" &&
      wanted(message).some((agent) =>
        turnsAfter(message, agent).some(
          ({ outcome, isAway }) => outcome !== "passed" && outcome !== "failed" && isAway !== true,
        ),
      ),
    left: (message: RoomMessage): string[] =>
      wanted(message).filter((agent) =>
        order.turns === "sequential" ? !isThrough(message, agent) : turnsAfter(message, agent).length === 0,
      ),
    /** Agents that were named, by people before agents, and that have had no turn since, though somebody else answered. */
    owed: (): { readonly agent: string; readonly message: RoomMessage }[] =>
      [...people, ...agents].flatMap((message) =>
        order.members
          .filter(({ id }) => {
            if (!message.mentions.includes(id) || id === message.from || !isHeardBy(message, id)) return false;
            const key = `${id} ${message.id}`;
            if (memo?.settled.has(key)) return false;
            const isOwed = turnsAfter(message, id).length === 0;
            if (!isOwed) memo?.settled.add(key);
            return isOwed;
          })
          .map(({ id }) => ({ agent: id, message })),
      ),
  };
}

function guardAt(head: RoomMessage, log: RoomLog, { guards }: Order): Halt | undefined {
  const origin = originOf(head.id, log);
  const spoken = log.messages.filter((message) => isWhole(message, log) && originOf(message.id, log) === origin);
  if (spoken.length >= guards.turns) return { about: head.id, code: "room_turns" };
  const last = spoken.slice(-guards.pair);
  if (last.length === guards.pair && new Set(last.map(({ from }) => from)).size <= 2)
    return { about: head.id, code: "room_pair" };
  const words = wordsOf(head);
  // To run the same again, after a change perhaps, is no repetition.
  if (words === "") return undefined;
  const same = spoken.filter((message) => message.from === head.from && wordsOf(message) === words);
  if (same.length > guards.repeats) return { about: head.id, code: "room_repeats" };
  return undefined;
}

/** What an agent said to its end. */
function isWhole({ id, isBroken }: RoomMessage, { answered }: RoomLog): boolean {
  return answered.has(id) && !isBroken;
}

function wordsOf({ text }: RoomMessage): string {
  return text.toLowerCase().split(/\s+/).join(" ").trim();
}
