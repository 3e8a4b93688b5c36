import { textOf, type Item, type ItemOf } from "../protocol/threads/items.ts";
import { continueText } from "../protocol/agents/rooms.ts";
import { withoutWithdrawn } from "../run/log/standing.ts";
import { everybody, mentionsIn } from "./mentions.ts";
import { commonRecipients } from "./private-messages.ts";
import { commandOf } from "./thread-seen-by.ts";
import type { RoomLog, RoomMessage, TurnOutcome } from "./turn-order.ts";

/** A turn of an agent, as the thread's items tell of it. */
export type LoggedTurn = TurnOutcome & {
  readonly run: string;
  /** The run that it is within: the room's, or a turn that it was asked to look at. */
  readonly parent: string;
  readonly error?: { readonly code: string; readonly message: string; readonly at: number };
};

export type ReadRoom = Omit<RoomLog, "turns"> & { readonly turns: readonly LoggedTurn[] };

export type ReadOptions = {
  /** Ids of the agents. */
  readonly members: readonly string[];
  /** A message may be for some only. */
  readonly isPrivate?: boolean;
  /** The run that answers now. */
  readonly rootRun: string;
  /** Which turns wait for a person, by `<agent> <message>`. */
  readonly isWaiting?: (key: string) => boolean;
};

const guards = /^room_/;

/** What was said and done in a room since its newest chapter, by the thread's items. */
export function readRoom(read: readonly Item[], options: ReadOptions): ReadRoom {
  const all = withoutWithdrawn(read);
  const { rootRun, isWaiting } = options;
  const items = all.slice(all.findLastIndex((item) => item.kind === "state" && bodyType(item) === "chapter") + 1);
  const byRun = Map.groupBy(items, ({ runId }) => runId);
  const messages: RoomMessage[] = [];
  const turns: LoggedTurn[] = [];
  const answered = new Map<string, string>();
  const asked = new Set<string>();
  for (const item of items) {
    if (isPersons(item)) {
      messages.push(saidBy(item.author ?? "", [item], options));
      if (item.runId === rootRun) asked.add(item.id);
    }
    if (item.kind !== "state" || "erased" in item.body || item.body.type !== "turn") continue;
    const { agent, answers, parentRun } = item.body;
    const own = byRun.get(item.runId) ?? [];
    const spoken = own.filter((one): one is ItemOf<"message"> => one.kind === "message" && one.step !== null);
    const ran = own.flatMap((one) =>
      one.kind === "call" && !("erased" in one.body) ? [`[ran: ${commandOf(one)}]`] : [],
    );
    const { outcome, error } = outcomeOf(own, { spoken, hasWorked: ran.length > 0 });
    turns.push({
      run: item.runId ?? "",
      parent: parentRun,
      agent,
      answers,
      begunAt: item.seq,
      ...(outcome === "open" && isWaiting?.(`${agent} ${answers}`)
        ? { outcome: "waiting", isAway: waitsForModel(own) }
        : { outcome }),
      ...(error ? { error } : {}),
    });
    if (outcome === "open" || spoken.length === 0) continue;
    const said = saidBy(agent, spoken, options);
    const told = said.text === "" ? { ...said, ran: ran.join("\n") } : said;
    messages.push(outcome === "spoke" ? told : { ...told, isBroken: true });
    for (const { id } of spoken) answered.set(id, answers);
  }
  messages.sort((one, other) => one.seq - other.seq);
  return { messages, turns, answered, asked, ...liftsIn(items) };
}

function isPersons(item: Item): item is ItemOf<"message"> {
  return item.kind === "message" && item.step === null && !("erased" in item.body) && item.body.role === "user";
}

function bodyType({ body }: ItemOf<"state">): string | undefined {
  return "erased" in body ? undefined : body.type;
}

/** One message, in however many pieces it was said between calls. */
function saidBy(
  from: string,
  pieces: readonly ItemOf<"message">[],
  { members, isPrivate }: Pick<ReadOptions, "members" | "isPrivate">,
): RoomMessage {
  const last = pieces.at(-1)!;
  const texts = pieces.map(({ body }) => ("erased" in body ? "" : textOf(body.content))).filter(Boolean);
  const text = texts.join("\n\n");
  const named = mentionsIn(text);
  const isForAll = named.some((name) => everybody.includes(name));
  const mentions = isForAll ? [...new Set([...named, ...members])] : named;
  const hearers = isPrivate ? commonRecipients(texts) : undefined;
  return { id: last.id, seq: last.seq, from, mentions, text, ...(hearers ? { hearers } : {}) };
}

function outcomeOf(
  items: readonly Item[],
  { spoken, hasWorked }: { readonly spoken: readonly ItemOf<"message">[]; readonly hasWorked: boolean },
): Pick<LoggedTurn, "outcome" | "error"> {
  for (const { kind, body, createdAt } of sinceResume(items)) {
    if (kind !== "state" || "erased" in body) continue;
    if (body.type === "pass") return { outcome: "passed" };
    if (body.type !== "run-end") continue;
    if (body.status === "cancelled") return { outcome: "stopped" };
    if (body.status === "failed")
      return { outcome: "failed", ...(body.error ? { error: { ...body.error, at: Date.parse(createdAt) } } : {}) };
    const isSilent = spoken.every((item) => "erased" in item.body || textOf(item.body.content).trim() === "");
    // Whoever ran something has told the others by what came of it.
    return { outcome: isSilent && !hasWorked ? "passed" : "spoke" };
  }
  return { outcome: "open" };
}

/** A turn that had ended may go on. */
function sinceResume(items: readonly Item[]): readonly Item[] {
  return items.slice(items.findLastIndex((item) => item.kind === "state" && bodyType(item) === "run-resume") + 1);
}

function waitsForModel(items: readonly Item[]): boolean {
  const last = items.findLast(({ kind }) => kind === "state");
  return (
    last?.kind === "state" &&
    !("erased" in last.body) &&
    last.body.type === "run-wait" &&
    last.body.reason === "provider"
  );
}

/** Where guards stopped chains, and which of them a person has lifted since. */
function liftsIn(items: readonly Item[]): Pick<RoomLog, "halted" | "resumes"> {
  const halted = new Set<string>();
  const resumes = new Map<string, string>();
  const left: string[] = [];
  for (const item of items) {
    if (item.kind === "notice" && !("erased" in item.body) && item.body.about && guards.test(item.body.code ?? "")) {
      halted.add(item.body.about);
      left.push(item.body.about);
    } else if (isPersons(item) && isContinue(textOf(item.body.content))) {
      const about = left.pop();
      if (about !== undefined) resumes.set(item.id, about);
    }
  }
  return { halted, resumes };
}

export function isContinue(text: string): boolean {
  return text.trim().toLowerCase().replace(/^\//, "").replace(/[.!]$/, "") === continueText;
}

/** Who was mentioned and is nobody here, by message. */
export function unknownMentions(message: RoomMessage, known: readonly string[]): string[] {
  return message.mentions.filter((name) => !known.includes(name) && !everybody.includes(name));
}
