import { fillPrompt } from "../agents/prompts.ts";
import type { AgentDefinition, RoomMember, RoomSpec } from "../protocol/agents.ts";
import { ColloquyError } from "../protocol/errors.ts";
import type { Item } from "../protocol/items.ts";
import type { Turn } from "../run/turn.ts";
import { guardText } from "./guard-text.ts";
import { privateHint } from "./private.ts";
import { readRoom, strangersIn, type ReadRoom } from "./room-log.ts";
import { nextTurns, onlyListens, originOf, type Order, type TurnTaken, type TurnToTake } from "./turn-order.ts";
import { isNo, sleepersOf, wakeQuestion } from "./wake.ts";

/** The part of a turn that it needs. */
type RoomsTurn = Pick<Turn, "run" | "record" | "room">;

/**
 * Leads a room: looks at what was said, lets those speak whose turn it is, and ends when it is the people's. What people say
 * meanwhile is heard at the next look.
 */
export async function room(turn: RoomsTurn): Promise<void> {
  const spec = turn.run.agent.room;
  if (!spec) throw new ColloquyError("not_a_room", 500, `The agent ${turn.run.agent.id} is no room.`);
  const running: Running = new Map();
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
type Running = Map<string, TurnToTake & { readonly over: Promise<void> }>;

/** Those that do not stand in the log yet. */
function beginning(running: Running, { turns, messages }: ReadRoom): TurnTaken[] {
  const begunAt = Math.max(0, ...messages.map(({ seq }) => seq)) + 0.5;
  return [...running.values()]
    .filter(({ agent, answers }) => !turns.some((turn) => turn.agent === agent && turn.answers === answers))
    .map(({ agent, answers }) => ({ agent, answers, begunAt, outcome: "open" }));
}

async function lead(turn: RoomsTurn, spec: RoomSpec, running: Running): Promise<void> {
  const members = spec.members.map(({ agent }) => agent.id);
  const verdicts = new Map<string, boolean>();
  const order = { members: sleepersOf(spec.members, verdicts), turns: spec.turns, guards: spec.guards };
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
    await tellStrangers(turn, log, members, items);
    const mine = log.turns.filter((one) => one.outcome === "open" && one.parent === turn.room.runId);
    // Begun by an earlier process, or waited for a person until now.
    for (const one of mine) if (!running.has(`${one.agent} ${one.answers}`)) begin(one, log);
    if (running.size === 0 || spec.turns === "parallel") {
      const next = nextTurns({ ...log, turns: [...log.turns, ...beginning(running, log)] }, order, memo);
      if (next.halt) {
        const { about, code } = next.halt;
        await turn.record(`halt:${about}`, {
          kind: "notice",
          body: { code, about, text: guardText(code, spec.guards) },
        });
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
      if (await turn.room.wait()) throw new Error("The run waits.");
      waiting.clear();
      continue;
    }
    checkFailures(log);
    if (await turn.room.end()) return;
  }
}

type Judging = {
  readonly spec: RoomSpec;
  readonly log: ReadRoom;
  readonly order: Order;
  readonly verdicts: Map<string, boolean>;
};

/** Asks models whether those are to be woken who only listen; true if anything was decided. */
async function judgeWakes(
  { room: { judge } }: RoomsTurn,
  turns: readonly TurnToTake[],
  { spec, log, order, verdicts }: Judging,
): Promise<boolean> {
  let isNew = false;
  for (const { agent, answers } of turns) {
    const wake = spec.members.find((member) => member.agent.id === agent)?.wake;
    const key = `${agent} ${answers}`;
    const message = log.messages.find(({ id }) => id === answers);
    if (!wake || !("question" in wake) || !message || verdicts.has(key)) continue;
    if (!onlyListens(agent, message, { log, order })) continue;
    const answer = await judge(key, { model: wake.model, messages: wakeQuestion(wake, message) });
    verdicts.set(key, !isNo(answer));
    isNew = true;
  }
  return isNew;
}

/** Until a turn is over or, where several speak at once, something was said. */
async function somethingNew(
  { room: { news } }: RoomsTurn,
  running: Running,
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
    if (strangersIn(message, known).length === 0 || items.some(({ step }) => step === key)) continue;
    // Those too who have said nothing so far.
    handles ??= await turn.room.handles();
    const strangers = strangersIn(message, [...known, ...handles]);
    if (strangers.length === 0) continue;
    const text = `Nobody here is called ${strangers.map((name) => `@${name}`).join(", ")}. There are ${members.map((name) => `@${name}`).join(", ")}.`;
    await turn.record(key, { kind: "notice", body: { code: "unknown_mention", about: message.id, text } });
  }
}

/** If nobody could say anything, that is what the people must know. */
function checkFailures({ turns, asked, answered }: ReadRoom): void {
  const own = turns.filter((one) => asked.has(originOf(one.answers, { answered })));
  if (own.length === 0 || own.some(({ outcome }) => outcome !== "failed")) return;
  const { code, message } = own.at(-1)!.error ?? { code: "turn_failed", message: "Nobody could answer." };
  throw new ColloquyError(code, 502, message);
}
