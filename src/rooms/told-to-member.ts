import { contentWithFiles } from "../run/attached-files.ts";
import { blocksOf, type Block } from "../run/blocks.ts";
import { tokensOf } from "../run/estimate.ts";
import { hearersOf } from "./private.ts";
import { textOf, type Item, type ItemOf } from "../protocol/items.ts";
import type { ModelMessage } from "../protocol/models.ts";

/**
 * A room's thread as one member is told it: what it said and did itself as an assistant, with its calls; every other message
 * as a user's, with the speaker's name before it and what the speaker ran below it.
 */
export function toldTo(
  member: string,
  { isPrivate = false }: { readonly isPrivate?: boolean } = {},
): (items: readonly Item[]) => Block[] {
  const hears = (text: string) => !isPrivate || (hearersOf(text)?.includes(member) ?? true);
  return (items) => {
    const byRun = Map.groupBy(
      items.filter((item) => item.runId !== null && item.step !== null && isSaidOrDone(item)),
      (item) => item.runId!,
    );
    const blocks: Block[] = [];
    for (const item of items)
      if (
        item.kind === "message" &&
        item.step === null &&
        item.body.role === "user" &&
        hears(textOf(item.body.content))
      )
        blocks.push(personsBlock(item));
    for (const [run, done] of byRun) {
      const agent = done.find(({ kind }) => kind === "message" || kind === "call")?.author ?? "";
      if (agent === member) blocks.push(...blocksOf(done));
      else if (hears(textIn(done))) blocks.push(...othersBlock(agent, run, done));
    }
    return blocks.sort((one, other) => one.at - other.at);
  };
}

type UserContent = Extract<ModelMessage, { readonly role: "user" }>["content"];

function textIn(items: readonly Item[]): string {
  return items.map((item) => (item.kind === "message" ? textOf(item.body.content) : "")).join("");
}

function isSaidOrDone({ kind }: Item): boolean {
  return kind === "message" || kind === "call" || kind === "result";
}

function personsBlock(item: ItemOf<"message">): Block {
  const content = named(item.author ?? "user", contentWithFiles(item.body));
  const messages = [{ role: "user" as const, content }];
  return { messages, tokens: tokensOf(item), run: item.runId, input: item.runId !== null, at: item.seq };
}

function named(handle: string, content: UserContent): UserContent {
  if (typeof content === "string") return `[@${handle}]: ${content}`;
  return [{ type: "text", text: `[@${handle}]:` }, ...content];
}

/** A turn of somebody else: what it said, then what it ran and what came of it. Nothing, if there is nothing of it yet. */
function othersBlock(agent: string, run: string, items: readonly Item[]): Block[] {
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
function commandOf({ body }: ItemOf<"call">): string {
  try {
    const input: unknown = JSON.parse(body.arguments);
    if (typeof input === "object" && input !== null && "cmd" in input && typeof input.cmd === "string")
      return input.cmd;
  } catch {
    // As the model wrote it.
  }
  return `${body.name} ${body.arguments}`;
}
