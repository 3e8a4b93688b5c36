import assert from "node:assert/strict";
import { test } from "node:test";
import {
  candidatesFor,
  type TurnOrderMemo,
  type NextTurns,
  nextTurns,
  type Order,
  type RoomLog,
  type RoomMessage,
  type TurnOutcome,
} from "./turn-order.ts";

/** The first design's rules, told as it told them, with the endless loop after a pass mended and nothing else. */
type RoomLine = { readonly id: string; readonly from: string; readonly mentions: readonly string[] };
type Agent = Order["members"][number];

function wakes(agent: Agent, line: RoomLine, lines: readonly RoomLine[]): boolean {
  if (line.from === agent.id) return false;
  const mine = lines.findLast(({ from }) => from === agent.id);
  if (mine?.mentions.includes(line.from)) return true;
  return agent.activation === "always" || line.mentions.includes(agent.id);
}

function asker(line: RoomLine, lines: readonly RoomLine[]): string | undefined {
  for (const earlier of lines.slice(0, -1).toReversed()) {
    if (earlier.mentions.includes(line.from)) return earlier.from;
    if (earlier.from === line.from) return undefined;
  }
  return undefined;
}

function recipient(
  line: RoomLine,
  { lines, agents, passed }: { lines: readonly RoomLine[]; agents: readonly Agent[]; passed: ReadonlySet<string> },
): string | undefined {
  const initiator = asker(line, lines);
  if (
    initiator !== undefined &&
    initiator !== line.from &&
    agents.some(({ id }) => id === initiator) &&
    !passed.has(initiator)
  )
    return initiator;
  return agents.find((agent) => !passed.has(agent.id) && wakes(agent, line, lines))?.id;
}

/** A generator of numbers that a seed repeats. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const guards = { turns: 1000, pair: 1000, repeats: 1000 };

/** Plays a room: who speaks is `choose`n, what is said is random. The same seed is the same talk, as long as the choice is. */
class SimulatedRoom {
  readonly messages: RoomMessage[] = [];
  readonly turns: TurnOutcome[] = [];
  readonly answered = new Map<string, string>();
  readonly asked = new Set<string>();
  readonly memo: TurnOrderMemo = { wanted: new Map(), settled: new Set() };
  readonly random: () => number;
  readonly agents: readonly Agent[];
  #seq = 0;
  constructor(seed: number) {
    this.random = randomFrom(seed);
    const count = 1 + Math.floor(this.random() * 4);
    this.agents = ["a", "b", "c", "d"]
      .slice(0, count)
      .map((id) => ({ id, activation: this.random() < 0.4 ? "always" : "mention" }));
  }
  get log(): RoomLog {
    return { ...this, halted: new Set(), resumes: new Map() };
  }
  /** What was settled before changes nothing. */
  next(order: Order): NextTurns {
    const next = nextTurns(this.log, order, this.memo);
    assert.deepEqual(next, nextTurns(this.log, order));
    return next;
  }
  said(from: string, mentions: readonly string[]): RoomMessage {
    const message = { id: `m${++this.#seq}`, seq: this.#seq, from, mentions, text: `${this.#seq}` };
    this.messages.push(message);
    return message;
  }
  mentions(from: string): string[] {
    const names = [...this.agents.map(({ id }) => id), "user"].filter((id) => id !== from);
    return names.filter(() => this.random() < 0.25);
  }
  take(agent: string, answers: string): RoomMessage | undefined {
    const begunAt = ++this.#seq;
    const passes = this.random() < 0.3;
    this.turns.push({ agent, answers, begunAt, outcome: passes ? "passed" : "spoke" });
    if (passes) return undefined;
    const message = this.said(agent, this.mentions(agent));
    this.answered.set(message.id, answers);
    return message;
  }
}

test("one person, one after the other: the first design's order, in a thousand talks", () => {
  let turns = 0;
  for (let seed = 1; seed <= 1000; seed++) {
    const play = new SimulatedRoom(seed);
    const order: Order = { members: play.agents, turns: "sequential", guards };
    for (let round = 0; round < 3; round++) {
      // One agent at most, so that nobody is left who was named and had no turn.
      let line = play.said("user", play.mentions("user").slice(0, 1));
      play.asked.clear();
      play.asked.add(line.id);
      const named = new Set(line.mentions);
      let passed = new Set<string>();
      for (let steps = 0; steps < 30; steps++) {
        const next = play.next(order);
        const expected = recipient(line, { lines: play.messages, agents: play.agents, passed });
        if (expected === undefined) {
          // Only who was named may still come.
          for (const { agent } of next.turns) assert.ok(named.has(agent), `seed ${seed}: ${agent} has nothing to say`);
          break;
        }
        assert.deepEqual(next, { turns: [{ agent: expected, answers: line.id }] }, `seed ${seed}, step ${steps}`);
        turns++;
        const answer = play.take(expected, line.id);
        named.delete(expected);
        for (const name of answer?.mentions ?? []) named.add(name);
        if (answer) [line, passed] = [answer, new Set()];
        else passed.add(expected);
      }
    }
  }
  assert.ok(turns > 5000);
});

test("whoever is named gets a turn, whoever else answers", () => {
  for (let seed = 1; seed <= 500; seed++) {
    const play = new SimulatedRoom(seed);
    const order: Order = { members: play.agents, turns: seed % 2 === 0 ? "sequential" : "parallel", guards };
    const people = ["user", "bob"].map((name) => play.said(name, play.mentions(name)));
    for (const { id } of people) play.asked.add(id);
    let steps = 0;
    for (let next = play.next(order); next.turns.length > 0 && steps < 60; steps++) {
      for (const { agent, answers } of next.turns) play.take(agent, answers);
      next = play.next(order);
    }
    if (steps === 60) continue;
    for (const { mentions, seq, from } of play.messages)
      for (const name of mentions)
        if (name !== from && play.agents.some(({ id }) => id === name))
          assert.ok(
            play.turns.some(({ agent, begunAt }) => agent === name && begunAt > seq),
            `seed ${seed}: @${name} had no turn`,
          );
  }
});

test("in any order: never to one's own message, never twice for one, never two turns at once", () => {
  for (let seed = 1; seed <= 500; seed++) {
    const play = new SimulatedRoom(seed);
    const parallel = seed % 2 === 0;
    const order: Order = { members: play.agents, turns: parallel ? "parallel" : "sequential", guards };
    play.asked.add(play.said("user", play.mentions("user")).id);
    for (let step = 0; step < 20; step++) {
      if (play.random() < 0.3)
        play.asked.add(play.said(play.random() < 0.5 ? "user" : "bob", play.mentions("user")).id);
      const { turns } = play.next(order);
      if (!parallel) assert.ok(turns.length <= 1);
      assert.equal(new Set(turns.map(({ agent }) => agent)).size, turns.length);
      for (const { agent, answers } of turns) {
        const message = play.messages.find(({ id }) => id === answers)!;
        assert.notEqual(message.from, agent);
        assert.ok(!play.turns.some((turn) => turn.agent === agent && turn.answers === answers), `seed ${seed}`);
        const wanted = candidatesFor(message, play.log, order);
        assert.ok(wanted.includes(agent) || message.mentions.includes(agent));
      }
      for (const { agent, answers } of turns) play.take(agent, answers);
    }
  }
});
