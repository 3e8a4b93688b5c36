import type { ConversationBlock, BlockOf } from "../client/conversation.ts";
import type { Display } from "./chat.ts";
import { printable } from "./colours.ts";
import { promptOf } from "./read-decision.ts";
import { isOwn, type ChatPlace } from "./chat-place.ts";
import {
  bannerOf,
  callLine,
  endLine,
  isShown,
  isAlreadyShown,
  planLines,
  resultLine,
  resumeLine,
  sourceLines,
  speakerOf,
} from "./lines.ts";

export type PlainOptions = {
  readonly output: NodeJS.WritableStream;
  readonly version: string;
  /** What people say is shown too: it was not typed here. */
  readonly echo: boolean;
};

/** A conversation as lines that are never changed: for pipes, files and plain terminals. */
export function createPlainDisplay({ output, version, echo }: PlainOptions): Display {
  /** How much of a message has been written; all of a thing that is not written bit by bit. */
  const written = new Map<string, number>();
  /** Of several who speak at once, one is written as they speak; the others when they have finished. */
  let speaking: string | undefined;
  let place: Pick<ChatPlace, "kind" | "you" | "members"> = { kind: "agent", members: [] };
  let before: ConversationBlock | undefined;
  const waiting = new Map<string, BlockOf<"message">>();

  const line = (text: string) => void output.write(`${text}\n`);

  function finishSpeaking(): void {
    if (speaking === undefined) return;
    output.write("\n");
    speaking = undefined;
  }

  function message(block: BlockOf<"message">): void {
    if (block.role === "user" && !echo && isOwn(place, block)) return;
    const before = written.get(block.key);
    if (before === undefined && (!isShown(block) || (speaking !== undefined && speaking !== block.key))) {
      waiting.set(block.key, block);
      if (block.isLive) return;
      if (!isShown(block)) return void waiting.delete(block.key);
      finishSpeaking();
    }
    waiting.delete(block.key);
    const text = printable(block.text);
    if (before === undefined) output.write(`\n[${speakerOf(block, place)}]: `);
    // It was withdrawn and is told anew.
    const from = before !== undefined && text.length < before ? restart() : (before ?? 0);
    output.write(text.slice(from));
    written.set(block.key, text.length);
    speaking = block.key;
    if (block.isLive) return;
    if (block.isPartial) output.write(" [stopped]");
    finishSpeaking();
  }

  function restart(): number {
    output.write("\n[System]: The answer was cut off and is discarded.\n");
    return 0;
  }

  function other(block: Exclude<ConversationBlock, { kind: "message" }>): void {
    switch (block.kind) {
      case "call":
        return call(block);
      case "plan":
        finishSpeaking();
        return line(planLines(block));
      case "question":
        finishSpeaking();
        return line(block.decision === undefined ? promptOf(block.body) : `[System]: ${block.decision}`);
      case "notice":
        finishSpeaking();
        return line(`[System]: ${printable(block.text)}`);
      case "resume":
        finishSpeaking();
        return line(resumeLine(block));
      case "end": {
        const text = endLine(block, place);
        finishSpeaking();
        if (text !== undefined) line(text);
      }
    }
  }

  function call(block: BlockOf<"call">): void {
    const before = written.get(block.key) ?? 0;
    if (before === 0) {
      finishSpeaking();
      line(`\n[${speakerOf(block, place)}]: ${callLine(block)}`);
      written.set(block.key, 1);
    }
    if (!block.result || before === 2) return;
    finishSpeaking();
    line(resultLine(block, false) ?? "");
    const sources = sourceLines(block);
    if (sources !== undefined) line(sources);
    written.set(block.key, 2);
  }

  return {
    show(blocks) {
      for (const block of blocks) {
        if (block.kind === "message") message(block);
        else if (!isAlreadyShown(block, before)) other(block);
        before = block;
      }
    },
    note(text) {
      finishSpeaking();
      line(text);
    },
    begin(at) {
      place = at;
      finishSpeaking();
      written.clear();
      waiting.clear();
      line(bannerOf(at, version));
    },
    edit(text) {
      line(`  ${printable(text)}\nedit the arguments and send them`);
    },
  };
}
