import { fillPrompt } from "../agents/prompt-placeholders.ts";
import type { AgentDefinition, RoomMember, RoomSpec } from "../protocol/agents/agents.ts";
import { ColloquyError, RunWaits } from "../protocol/base/errors.ts";
import type { Item } from "../protocol/threads/items.ts";
import type { Turn } from "../run/contract/turn.ts";
import { isErased } from "../run/log/fold.ts";
import { failedMembers } from "./failed-members.ts";
import { privateHint } from "./private-messages.ts";
import { readRoom, unknownMentions, type ReadRoom } from "./room-log.ts";
import {
  nextTurns,
  isOnlyListener,
  originOf,
  pendingMentions,
  type Order,
  type TurnOutcome,
  type TurnToTake,
  type GuardCode,
  type RoomMessage,
} from "./turn-order.ts";
import { continueText, type RoomGuards, type WakeRule } from "../protocol/agents/rooms.ts";
import type { ModelMessage } from "../protocol/agents/models.ts";

/** The part of a turn that this strategy uses. */
type RoomsTurn = Pick<Turn, "run" | "record" | "room">;

/**
 * Leads a room: looks at what was said, lets those speak whose turn it is, and ends when it is the people's. What people say
 * meanwhile is heard at the next look.
 */
export async function room(turn: RoomsTurn): Promise<void> {
  const spec = turn.run.agent.room;
  if (!spec) throw new ColloquyError("not_a_room", 500, `The agent ${turn.run.agent.id} is no room.`);
  const running: RunningTurns = new Map();
  try {
    await lead(turn, spec, running);
  } finally {
    // Whatever broke this off stops them too.
    await Promise.allSettled([...running.values()].map(({ over }) => over));
  }
}
room.prompts = ["room_member"] as const;
room.handsOver = true as const;

/** Turns that this process works on, by `<agent> <message>`. */
type RunningTurns = Map<string, TurnToTake & { readonly over: Promise<void> }>;

/** Those that do not stand in the log yet. */
function beginning(running: RunningTurns, { turns, messages }: ReadRoom): TurnOutcome[] {
  const begunAt = Math.max(0, ...messages.map(({ seq }) => seq)) + 0.5;
  return [...running.values()]
    .filter(({ agent, answers }) => !turns.some((turn) => turn.agent === agent && turn.answers === answers))
    .map(({ agent, answers }) => ({ agent, answers, begunAt, outcome: "open" }));
}

async function lead(turn: RoomsTurn, spec: RoomSpec, running: RunningTurns): Promise<void> {
  const members = spec.members.map(({ agent }) => agent.id);
  const verdicts = new Map<string, boolean>();
  let dead: ReadonlySet<string> = new Set();
  const order = { members: sleepersOf(spec.members, verdicts, () => dead), turns: spec.turns, guards: spec.guards };
  const memo = spec.members.some(({ wake }) => wake) ? undefined : { wanted: new Map(), settled: new Set<string>() };
  const waiting = new Set<string>();
  let items: readonly Item[] = [];

  const begin = (toTake: TurnToTake, log: ReadRoom) => {
    const key = `${toTake.agent} ${toTake.answers}`;
    const taken = turn.room
      .take({
        agent: memberIn(turn, spec, toTake.agent),
        answers: toTake.answers,
        inNameOf: originOf(toTake.answers, log),
        within: spec,
      })
      .then((outcome) => {
        if (outcome === "waits") waiting.add(key);
      })
      .finally(() => running.delete(key));
    // Awaited below; until then a rejection must not count as unhandled.
    taken.catch(() => {});
    running.set(key, { ...toTake, over: taken });
  };

  for (;;) {
    items = [...items, ...(await turn.room.since(items.at(-1)?.seq ?? 0))];
    const log = readRoom(items, {
      members,
      rootRun: turn.room.runId,
      isPrivate: spec.private,
      isWaiting: (key) => waiting.has(key),
    });
    dead = failedMembers(log.turns, Date.now());
    await tellStrangers(turn, log, members, items);
    const mine = log.turns.filter((one) => one.outcome === "open" && one.parent === turn.room.runId);
    // Begun by an earlier process, or waited for a person until now.
    for (const one of mine) if (!running.has(`${one.agent} ${one.answers}`)) begin(one, log);
    if (running.size === 0 || spec.turns === "parallel") {
      const next = nextTurns({ ...log, turns: [...log.turns, ...beginning(running, log)] }, order, memo);
      if (next.halt) {
        const { about, code } = next.halt;
        const uncalled = pendingMentions(about, log, order);
        const values = { count: spec.guards[guardOf[code]], uncalled };
        const text = guardText(code, spec.guards, uncalled);
        await turn.record(`halt:${about}`, { kind: "notice", body: { code, about, text, values } });
        continue;
      }
      if (await judgeWakes(turn, next.turns, { spec, log, order, verdicts })) continue;
      for (const toTake of next.turns) begin(toTake, log);
    }
    if (running.size > 0) {
      await somethingNew(turn, running, { seq: items.at(-1)?.seq ?? 0, alone: spec.turns === "sequential" });
      continue;
    }
    if (waiting.size > 0) {
      if (await turn.room.wait()) throw new RunWaits();
      waiting.clear();
      continue;
    }
    checkFailures(log);
    await tellWhomToCall(turn, spec, { log, items });
    if (await turn.room.end()) return;
  }
}

type GuardInput = {
  readonly spec: RoomSpec;
  readonly log: ReadRoom;
  readonly order: Order;
  readonly verdicts: Map<string, boolean>;
};

/** Asks models whether those are to be woken who only listen; true if anything was decided. */
async function judgeWakes(
  { room: { judge } }: RoomsTurn,
  turns: readonly TurnToTake[],
  { spec, log, order, verdicts }: GuardInput,
): Promise<boolean> {
  let isNew = false;
  for (const { agent, answers } of turns) {
    const wake = spec.members.find((member) => member.agent.id === agent)?.wake;
    const key = `${agent} ${answers}`;
    const message = log.messages.find(({ id }) => id === answers);
    if (!wake || !("question" in wake) || !message || verdicts.has(key)) continue;
    if (!isOnlyListener(agent, message, { log, order })) continue;
    const answer = await judge(key, { model: wake.model, messages: wakeQuestion(wake, message) });
    verdicts.set(key, !isNo(answer));
    isNew = true;
  }
  return isNew;
}

/** Until a turn is over or, where several speak at once, something was said. */
async function somethingNew(
  { room: { news } }: RoomsTurn,
  running: RunningTurns,
  { seq, alone }: { readonly seq: number; readonly alone: boolean },
): Promise<void> {
  const stop = new AbortController();
  try {
    await Promise.race([...[...running.values()].map(({ over }) => over), ...(alone ? [] : [news(seq, stop.signal)])]);
  } finally {
    stop.abort();
  }
}

/** A member as its turn's run knows it. */
function memberIn(turn: RoomsTurn, spec: RoomSpec, id: string): AgentDefinition {
  const found = spec.members.find(({ agent }) => agent.id === id)!;
  const watchers = spec.members.filter((one) => one.mayInterrupt && one.agent.id !== id);
  return {
    ...found.agent,
    strategy: "member",
    instructions: instructionsOf(turn, spec, found),
    room: {
      ...spec,
      members: watchers.map((one) => ({
        ...one,
        agent: { ...one.agent, instructions: instructionsOf(turn, spec, one) },
      })),
    },
  };
}

function instructionsOf({ run }: RoomsTurn, spec: RoomSpec, { agent, introduce }: RoomMember): string {
  const text = run.prompts["room_member"];
  const own = spec.private ? `${agent.instructions.trim()}\n\n${privateHint}`.trim() : agent.instructions;
  if (!introduce || text === undefined) return own;
  const others = spec.members
    .filter((one) => one.agent.id !== agent.id)
    .map((one) => `- @${one.agent.id}${one.agent.description ? `: ${one.agent.description}` : ""}`);
  const room = fillPrompt(text, { name: agent.id, members: others.join("\n") });
  return `${own.trim()}\n\n${room}`.trim();
}

/** Says once of each message of this run whom it mentioned that is not here. */
async function tellStrangers(
  turn: RoomsTurn,
  log: ReadRoom,
  members: readonly string[],
  items: readonly Item[],
): Promise<void> {
  const people = items.flatMap((item) => (item.kind === "message" && item.step === null ? [item.author ?? ""] : []));
  const known = [...members, ...people, "user"];
  let handles: readonly string[] | undefined;
  for (const message of log.messages) {
    if (!log.asked.has(originOf(message.id, log))) continue;
    const key = `strangers:${message.id}`;
    if (unknownMentions(message, known).length === 0 || items.some(({ step }) => step === key)) continue;
    // Those too who have said nothing so far.
    handles ??= await turn.room.handles();
    const strangers = unknownMentions(message, [...known, ...handles]);
    if (strangers.length === 0) continue;
    const text = `Nobody here is called ${strangers.map((name) => `@${name}`).join(", ")}. There are ${members.map((name) => `@${name}`).join(", ")}.`;
    const values = { names: strangers, members };
    await turn.record(key, { kind: "notice", body: { code: "unknown_mention", about: message.id, text, values } });
  }
}

/**
 * Where all listen only when they are called, messages that call nobody would end in silence. People who talk to each other are
 * told once, until an agent has had a turn.
 */
async function tellWhomToCall(
  turn: RoomsTurn,
  { members }: RoomSpec,
  { log, items }: { readonly log: ReadRoom; readonly items: readonly Item[] },
): Promise<void> {
  if (members.some(({ agent }) => agent.activation !== "mention")) return;
  if (log.turns.some(({ parent }) => parent === turn.room.runId)) return;
  const last = log.messages.findLast(({ id }) => log.asked.has(id));
  if (!last || last.mentions.length > 0) return;
  const told = items.findLast((item) => item.kind === "notice" && !isErased(item) && item.body.code === notCalled);
  const isTold = told !== undefined && !log.turns.some(({ begunAt }) => begunAt > told.seq);
  if (isTold && (await turn.room.handles()).length > 1) return;
  const names = members.map(({ agent: { id, description } }) => `@${id}${description ? ` (${description})` : ""}`);
  const text = `No agent was mentioned, and all agents here respond only when mentioned. Start with ${listed(names, "or")}.`;
  const values = { members: members.map(({ agent }) => agent.id) };
  await turn.record(`uncalled:${last.id}`, { kind: "notice", body: { code: notCalled, about: last.id, text, values } });
}

const notCalled = "nobody_called";

function listed(names: readonly string[], word: "and" | "or"): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} ${word} ${names.at(-1)}`;
}

/** If nobody could say anything, that is what the people must know. */
function checkFailures({ turns, asked, answered }: ReadRoom): void {
  const own = turns.filter((one) => asked.has(originOf(one.answers, { answered })));
  if (own.length === 0 || own.some(({ outcome }) => outcome !== "failed")) return;
  const { code, message } = own.at(-1)!.error ?? { code: "turn_failed", message: "No agent could answer." };
  throw new ColloquyError(code, 502, message);
}

const guardOf = { room_turns: "turns", room_pair: "pair", room_repeats: "repeats" } as const satisfies Record<
  GuardCode,
  keyof RoomGuards
>;

/** Why a chain was stopped, and how it goes on. */
function guardText(code: GuardCode, guards: RoomGuards, uncalled: readonly string[]): string {
  const reasons: Record<GuardCode, string> = {
    room_turns: `The agents have had ${guards.turns} turns since your message.`,
    room_pair: `The same two agents have had the last ${guards.pair} turns between them.`,
    room_repeats: `An agent has said the same more than ${guards.repeats} times.`,
  };
  const stopped = `${reasons[code]} They were stopped; write "${continueText}" to let them go on.`;
  if (uncalled.length === 0) return stopped;
  const names = uncalled.map((name) => `@${name}`);
  return `${stopped} ${listed(names, "and")} ${names.length === 1 ? "was called and has" : "were called and have"} not had a turn.`;
}

/** What a model is asked that decides whether an agent is woken. */
function wakeQuestion({ question }: Extract<WakeRule, { question: string }>, message: RoomMessage): ModelMessage[] {
  return [
    { role: "system", content: `${question.trim()}\n\nAnswer only yes or no.` },
    { role: "user", content: `[@${message.from}]: ${heardIn(message)}` },
  ];
}

/** What is no answer wakes it: rather once too often. */
function isNo(answer: string): boolean {
  return /^\W*no\b/i.test(answer);
}

/**
 * Members as the order of turns sees them; `verdicts`: what models have decided, by `<agent> <message>`. One that is `dead`
 * listens only where nobody else would answer a person.
 */
function sleepersOf(
  members: readonly RoomMember[],
  verdicts: ReadonlyMap<string, boolean>,
  dead: () => ReadonlySet<string>,
): Order["members"] {
  const isMember = (name: string) => members.some(({ agent }) => agent.id === name);
  const isHeard = ({ from, mentions }: RoomMessage) =>
    isMember(from) ||
    members.some(
      ({ agent: { id, activation } }) => !dead().has(id) && (activation === "always" || mentions.includes(id)),
    );
  return members.map(({ agent: { id, activation }, wake }) => ({
    id,
    activation,
    sleeps(message: RoomMessage) {
      if (dead().has(id) && isHeard(message)) return true;
      if (!wake) return false;
      return "words" in wake ? !hasWord(heardIn(message), wake.words) : verdicts.get(`${id} ${message.id}`) === false;
    },
  }));
}

/** What was said, else what was run instead. */
function heardIn({ text, ran }: RoomMessage): string {
  return text || (ran ?? "");
}

function hasWord(text: string, words: readonly string[]): boolean {
  const plain = text.toLowerCase();
  return words.some((word) => plain.includes(word.toLowerCase()));
}
