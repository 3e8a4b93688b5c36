import type { Client } from "../client/client.ts";
import { type ConversationBlock, type ConversationFold, createConversation } from "../client/conversation.ts";
import { ColloquyError, messageOf } from "../protocol/base/errors.ts";
import { newId } from "../protocol/base/ids.ts";
import { readAnswer, readEdited, type DecisionReading } from "./read-decision.ts";
import type { Item } from "../protocol/threads/items.ts";
import { printable } from "./colours.ts";
import type { ChatPlace } from "./chat-place.ts";
import { createOutbox } from "./outbox.ts";

/** What shows a chat: a screen, or plain lines. */
export type Display = {
  /** New and changed blocks. */
  readonly show: (blocks: readonly ConversationBlock[]) => void;
  /** A word of the terminal itself. */
  readonly note: (text: string) => void;
  /** From here on another conversation is shown. */
  readonly begin: (place: ChatPlace) => void;
  /** Puts a text where the person types. */
  readonly edit: (text: string) => void;
};

export type Chat = {
  readonly client: Client;
  readonly place: () => ChatPlace;
  readonly conversation: () => ConversationFold;
  /** A command, an answer to what is asked, or something to say. Failures are told, not thrown. */
  readonly submit: (text: string) => Promise<void>;
  /** False: nothing was at work. */
  readonly interrupt: (member?: string) => Promise<boolean>;
  readonly move: (place: ChatPlace) => Promise<void>;
  readonly note: (text: string) => void;
  /** Undone by whoever shows the chat. */
  readonly quit: () => void;
  /** Resolves when nothing is at work, with whether somebody must decide first; rejects when the server is gone. */
  readonly settled: () => Promise<"idle" | "asked">;
  readonly close: () => void;
};

export type ChatOptions = {
  readonly place: ChatPlace;
  readonly display: Display;
  /** A line that begins with a slash. */
  readonly runCommand: (chat: Chat, line: string) => Promise<void>;
  readonly onQuit: () => void;
  /** How long the server may be away before the chat gives up. */
  readonly patienceMs: number;
};

/** Of a conversation that is taken up again. */
const shownAtFirst = 100;

/** One person's side of a conversation: follows it, and takes what they type. */
export function createChat(
  client: Client,
  { place: first, display, runCommand, onQuit, patienceMs }: ChatOptions,
): Chat {
  let place = first;
  let conversation = createConversation();
  let following = new AbortController();
  let isFollowed = false;
  /** Runs of messages that wait behind the one at work: to stop that one does not stop these. */
  let queued = new Set<string>();
  /** The question whose arguments are being changed. */
  let edited: string | undefined;
  const waiting = new Set<PromiseWithResolvers<"idle" | "asked">>();

  const closed = new AbortController();
  const giveUp = (error: unknown) => {
    display.note(`Connection lost: ${messageOf(error)}`);
    for (const each of waiting) each.reject(error);
    waiting.clear();
  };
  const outbox = createOutbox({
    ...{ note: display.note, patienceMs, signal: closed.signal },
    onGivenUp: giveUp,
    onEmpty: () => tellSettled(),
  });
  const state = () => (outbox.isEmpty() ? stateOf(conversation, queued) : "working");

  const tellSettled = () => {
    const now = state();
    if (now === "working") return;
    for (const each of waiting) each.resolve(now);
    waiting.clear();
  };
  const show = (blocks: readonly ConversationBlock[]) => {
    if (blocks.length > 0) display.show(blocks);
  };

  /** Also of delegated runs, whose threads are not followed. */
  async function learnQuestions(run: string, of: ConversationFold): Promise<void> {
    const questions = await place.questions(run);
    if (of !== conversation) return;
    for (const question of questions) show(conversation.ask(question));
    tellSettled();
  }

  async function follow(threadId: string, cursor: string): Promise<void> {
    isFollowed = true;
    const { signal } = following;
    const own = conversation;
    const onConnection = (isConnected: boolean) =>
      display.note(isConnected ? "Reconnected." : "Connection lost. Reconnecting…");
    try {
      for await (const { event } of place.follow(threadId, { cursor, signal, patienceMs, onConnection })) {
        if (event.type === "presence") continue;
        if (event.type === "run-start" || event.type === "run-end") queued.delete(event.run);
        show(own.apply(event));
        if (event.type === "run-wait" && event.reason !== "client")
          void learnQuestions(event.run, own).catch((error: unknown) => display.note(messageOf(error)));
        tellSettled();
      }
    } catch (error) {
      if (!signal.aborted) giveUp(error);
    }
  }

  async function open(): Promise<void> {
    display.begin(place);
    const threadId = place.thread();
    if (threadId === undefined) return;
    const after = place.after === undefined ? {} : { after: place.after };
    const items = [...(await place.items({ order: "desc", limit: shownAtFirst, ...after }))].reverse();
    const lastMessage = items.findLast(({ kind }) => kind === "message");
    if (lastMessage) display.note(continuedLine(place, lastMessage));
    show(unique(items.flatMap((item) => conversation.read(item))));
    // A run that began before what is shown.
    const runs = await place.atWork();
    conversation.atWork(runs);
    for (const run of place.kind === "room" ? runs.slice(0, 1) : runs) await learnQuestions(run.id, conversation);
    void follow(threadId, String(items.at(-1)?.seq ?? place.after ?? 0));
  }

  async function decide(question: string, typed: DecisionReading, text: string): Promise<void> {
    if ("wrong" in typed) return display.note(typed.wrong);
    if ("edit" in typed) {
      edited = question;
      return display.edit(typed.edit);
    }
    const asked = conversation.open().find(({ key }) => key === question);
    if (!asked) return display.note("Someone else has already decided.");
    const [at, of] = [place, conversation];
    let tries = 0;
    await outbox.send(text, async () => {
      tries++;
      await at.decide({ id: asked.id, runId: asked.run }, typed).catch((error: unknown) => {
        // It had arrived.
        if (tries === 1 || !(error instanceof ColloquyError) || error.code !== "already_decided") throw error;
      });
      if (of === conversation) show(of.decided(asked.key, typed.decision));
    });
  }

  async function say(text: string, id: string, at: ChatPlace): Promise<void> {
    const run = await at.say(text, id);
    if (at !== place) return;
    if (!run.waits) conversation.atWork([run]);
    else if (!conversation.working().has(run.id)) {
      queued.add(run.id);
      display.note(`queued: ${text}`);
    }
    const threadId = place.thread();
    if (!isFollowed && threadId !== undefined) void follow(threadId, "0");
  }

  async function take(text: string): Promise<void> {
    const [asked] = conversation.open();
    if (edited !== undefined) {
      const question = conversation.open().find(({ key }) => key === edited);
      edited = undefined;
      if (question) return decide(question.key, readEdited(question.body, text), text);
    }
    if (text.startsWith("/") && !text.startsWith("//")) return runCommand(chat, text);
    const typed = asked && readAnswer(asked.body, text);
    if (typed) {
      try {
        return await decide(asked.key, typed, text);
      } catch (error) {
        // Somebody else is asked: so it was said to all.
        const isOthers = error instanceof ColloquyError && error.status === 403 && asked.body.reason === "question";
        if (!isOthers) throw error;
      }
    }
    const message = text.startsWith("//") ? text.slice(1) : text;
    const [id, at] = [newId(), place];
    await outbox.send(message, () => say(message, id, at));
  }

  const chat: Chat = {
    client,
    place: () => place,
    conversation: () => conversation,
    async submit(text) {
      if (text.trim() === "") return;
      try {
        await take(text.trim());
      } catch (error) {
        display.note(messageOf(error));
      }
    },
    async interrupt(member) {
      const runs = [...conversation.working().keys()];
      if (runs.length === 0) return false;
      await place.stop(runs, member?.replace(/^@/, ""));
      return true;
    },
    async move(to) {
      following.abort();
      following = new AbortController();
      isFollowed = false;
      edited = undefined;
      place = to;
      conversation = createConversation();
      queued = new Set();
      await open();
    },
    note: display.note,
    quit: onQuit,
    settled() {
      const now = state();
      if (now !== "working") return Promise.resolve(now);
      const settling = Promise.withResolvers<"idle" | "asked">();
      waiting.add(settling);
      return settling.promise;
    },
    close() {
      following.abort();
      closed.abort();
    },
  };
  return chat;
}

function stateOf(conversation: ConversationFold, queued: ReadonlySet<string>): "idle" | "asked" | "working" {
  if (conversation.open().length > 0) return "asked";
  return conversation.working().size + queued.size === 0 ? "idle" : "working";
}

/** Which conversation goes on here, for whoever meant to begin one. */
function continuedLine({ title, name }: ChatPlace, { createdAt }: Item): string {
  const when = createdAt.slice(0, 16).replace("T", " ");
  return `Continuing ${printable(title || name)}, last message ${when} UTC. /clear starts a new one.`;
}

/** Of blocks that changed more than once, the last. */
function unique(blocks: readonly ConversationBlock[]): readonly ConversationBlock[] {
  return [...new Map(blocks.map((block) => [block.key, block])).values()];
}
