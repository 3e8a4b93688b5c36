import { createInterface, type Interface } from "node:readline";
import type { Client } from "../client/client.ts";
import { messageOf } from "../protocol/base/errors.ts";
import { createChat, type Chat } from "./chat.ts";
import { coloursFor } from "./colours.ts";
import { runCommand } from "./commands.ts";
import type { ChatPlace } from "./chat-place.ts";
import { createPlainDisplay } from "./plain-display.ts";
import { showScreen } from "./screen.ts";

export type StartChatOptions = {
  readonly place: ChatPlace;
  readonly version: string;
  /** Lines, also on a terminal. */
  readonly plain: boolean;
  /** What happens as lines of JSON. */
  readonly json: boolean;
  /** Nobody reads the lines any more, so it leaves; what is at work goes on. */
  readonly gone?: AbortSignal;
};

/** What is read and written; of a terminal, where it is one. */
export type Streams = {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
};

/** Without a person at the keyboard, a server that stays away so long is lost. */
const goneForGoodMs = 60_000;

const exitCodes = { done: 0, failed: 1, waiting: 2 } as const;

/** Talks until the person leaves or the input ends; the exit code: 2 if something waits for a decision that nobody gave. */
export async function startChat(client: Client, { plain, ...options }: StartChatOptions): Promise<number> {
  const { stdin, stdout } = process;
  const { place, version, json } = options;
  if (!plain && !json && stdin.isTTY && stdout.isTTY) {
    await showScreen(client, { place, version, colours: coloursFor(stdout) });
    stdout.write("\n[System]: Goodbye!\n");
    return exitCodes.done;
  }
  return talkInLines(client, options, { input: stdin, output: stdout });
}

/** A line of the input is a message, a command or an answer; the next is read when nobody works any more. */
export async function talkInLines(
  client: Client,
  { place, version, json, gone }: Omit<StartChatOptions, "plain">,
  { input, output }: Streams,
): Promise<number> {
  const isTyped = Boolean(input.isTTY);
  let lines: Interface | undefined;
  let hasLeft = false;
  const left = Promise.withResolvers<"idle">();
  const chat: Chat = createChat(client, {
    place,
    runCommand,
    patienceMs: isTyped ? Infinity : goneForGoodMs,
    display: json ? jsonDisplay(output) : createPlainDisplay({ output, version, echo: !isTyped }),
    onQuit() {
      hasLeft = true;
      left.resolve("idle");
      lines?.close();
    },
  });
  let interruptedAt = 0;
  const onInterrupt = () => {
    void chat.interrupt().then((stopped) => {
      if (stopped) return;
      if (Date.now() - interruptedAt < 2000 || !isTyped) chat.quit();
      interruptedAt = Date.now();
    });
  };
  process.on("SIGINT", onInterrupt);
  gone?.addEventListener("abort", () => chat.quit());
  try {
    await chat.move(place);
    let state = await chat.settled();
    if (gone?.aborted) return exitCodes.done;
    // Not before: what it reads while nobody listens is lost.
    lines = createInterface({ input, terminal: false, crlfDelay: Infinity });
    if (isTyped) output.write("\n[@user]: ");
    for await (const line of lines) {
      await chat.submit(line);
      if (hasLeft) break;
      state = await Promise.race([chat.settled(), left.promise]);
      if (hasLeft) break;
      if (isTyped) output.write("\n[@user]: ");
    }
    if (!json) output.write("\n[System]: Goodbye!\n");
    return state === "asked" && !hasLeft ? exitCodes.waiting : exitCodes.done;
  } catch (error) {
    process.stderr.write(`colloquy: ${messageOf(error)}\n`);
    return exitCodes.failed;
  } finally {
    process.off("SIGINT", onInterrupt);
    lines?.close();
    chat.close();
  }
}

/** What is new or changed, as it is then; of a text that is being written only the whole. */
function jsonDisplay(output: NodeJS.WritableStream): Parameters<typeof createChat>[1]["display"] {
  const line = (value: unknown) => void output.write(`${JSON.stringify(value)}\n`);
  const begun = new Set<string>();
  return {
    show(blocks) {
      for (const block of blocks) {
        if (block.kind === "message" && block.isLive) continue;
        // What it writes meanwhile stands in its result.
        if (block.kind === "call" && !block.result && begun.has(block.key)) continue;
        if (block.kind === "call") begun.add(block.key);
        line(block);
      }
    },
    note: (text) => line({ kind: "note", text }),
    begin: ({ kind, name, members, thread }) => line({ kind: "begin", place: kind, name, members, thread: thread() }),
    edit: (text) => line({ kind: "edit", text }),
  };
}
