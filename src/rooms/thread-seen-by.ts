import { contentWithFiles } from "../run/log/attached-files.ts";
import { blocksOf, type MessageBlock } from "../run/log/message-blocks.ts";
import { tokensOf } from "../run/log/estimate-tokens.ts";
import { commonRecipients } from "./private-messages.ts";
import { textOf, type Item, type ItemOf } from "../protocol/threads/items.ts";
import type { ModelMessage } from "../protocol/agents/models.ts";

/**
 * A room's thread as one member is told it: what it said and did itself as an assistant, with its calls; every other message
 * as a user's, with the speaker's name before it and what the speaker ran below it. Where not all hear all, others' turns are
 * told when they have ended; only that which it `watches`, a run, at once and whole.
 */
export function threadSeenBy(
  member: string,
  { isPrivate = false, watches }: { readonly isPrivate?: boolean; readonly watches?: string | undefined } = {},
): (items: readonly Item[]) => MessageBlock[] {
  const hears = (texts: readonly string[]) => !isPrivate || (commonRecipients(texts)?.includes(member) ?? true);
  return (items) => {
    const byRun = Map.groupBy(
      items.filter((item) => item.runId !== null && item.step !== null && isSaidOrDone(item)),
      (item) => item.runId!,
    );
    // Until a turn has ended nobody knows for whom it will turn out to be.
    const ended = new Set(
      items.flatMap((item) => (item.kind === "state" && item.body.type === "run-end" ? [item.runId] : [])),
    );
    const isOpen = (run: string) => isPrivate && !ended.has(run);
    const blocks: MessageBlock[] = [];
    for (const item of items)
      if (
        item.kind === "message" &&
        item.step === null &&
        item.body.role === "user" &&
        hears([textOf(item.body.content)])
      )
        blocks.push(personsBlock(item));
    for (const [run, done] of byRun) {
      const agent = done.find(({ kind }) => kind === "message" || kind === "call")?.author ?? "";
      if (agent === member) blocks.push(...blocksOf(done));
      else if (run === watches || (!isOpen(run) && hears(textsIn(done)))) blocks.push(...othersBlock(agent, run, done));
    }
    return blocks.sort((one, other) => one.at - other.at);
  };
}

type RoomUserContent = Extract<ModelMessage, { readonly role: "user" }>["content"];

function textsIn(items: readonly Item[]): string[] {
  return items.flatMap((item) => (item.kind === "message" ? [textOf(item.body.content)] : []));
}

function isSaidOrDone({ kind }: Item): boolean {
  return kind === "message" || kind === "call" || kind === "result";
}

function personsBlock(item: ItemOf<"message">): MessageBlock {
  const content = named(item.author ?? "user", contentWithFiles(item.body));
  const messages = [{ role: "user" as const, content }];
  return { messages, tokens: tokensOf(item), run: item.runId, input: item.runId !== null, at: item.seq };
}

function named(handle: string, content: RoomUserContent): RoomUserContent {
  if (typeof content === "string") return `[@${handle}]: ${content}`;
  return [{ type: "text", text: `[@${handle}]:` }, ...content];
}

/** A turn of somebody else: what it said, then what it ran and what came of it. Nothing, if there is nothing of it yet. */
function othersBlock(agent: string, run: string, items: readonly Item[]): MessageBlock[] {
  const results = new Map(
    items.flatMap((item) => (item.kind === "result" ? [[`${item.step}.${item.index}`, item.body.content]] : [])),
  );
  const texts: string[] = [];
  const ran: string[] = [];
  let isCut = false;
  for (const item of items) {
    if (item.kind === "message") {
      texts.push(textOf(item.body.content));
      isCut ||= item.body.partial ?? false;
    } else if (item.kind === "call") {
      const result = results.get(`${item.step}.${item.index}`);
      const command = commandOf(item);
      ran.push(result === undefined ? `[about to run: ${command}]` : `[ran: ${command}]\n[result]: ${result}`);
    }
  }
  const said = texts.filter((text) => text.trim() !== "").join("\n\n") + (isCut ? " [interrupted]" : "");
  if (said === "" && ran.length === 0) return [];
  const content = [`[@${agent}]: ${said}`, ...ran].join("\n");
  const tokens = items.reduce((sum, item) => sum + tokensOf(item), 0);
  return [{ messages: [{ role: "user", content }], tokens, run, input: false, at: items.at(-1)!.seq }];
}

/** Of a command what was run, of another tool its name and arguments. */
export function commandOf({ body }: ItemOf<"call">): string {
  try {
    const input: unknown = JSON.parse(body.arguments);
    if (typeof input === "object" && input !== null && "cmd" in input && typeof input.cmd === "string")
      return input.cmd;
  } catch {
    // As the model wrote it.
  }
  return `${body.name} ${body.arguments}`;
}
