import type { ConversationBlock, BlockOf } from "../client/conversation.ts";
import { printable } from "./colours.ts";
import type { ChatPlace } from "./chat-place.ts";

/** Of a result, before somebody asks for all of it. */
const shownOfResult = 500;

/** The banner with which a conversation begins. */
export function bannerOf(place: ChatPlace, version: string): string {
  const rule = "=".repeat(50);
  const head =
    place.kind === "room"
      ? [`Multi-Agent Chatroom v${version}`, `Agents: ${place.members.map(({ id }) => id).join(", ")}`]
      : [`Colloquy v${version}`, `Agent: ${place.members[0]?.id}`];
  return [rule, ...head, "Type /quit to exit, /clear to reset, /help for more", rule].join("\n");
}

/** What an agent does, in the words of a shell where it is a command. */
export function callLine({
  name,
  arguments: given,
  kept,
}: Pick<BlockOf<"call">, "name" | "arguments" | "kept">): string {
  const command = commandIn(given);
  return `${kept === undefined ? "Running" : `Kept from run ${kept}`}: ${printable(command ?? (given === "{}" || given === "" ? name : `${name} ${oneLine(given)}`))}`;
}

export function resultLine({ result, output, isDenied }: BlockOf<"call">, isWhole: boolean): string | undefined {
  if (!result) return output === "" ? undefined : printable(isWhole ? output : output.slice(-shownOfResult));
  const text = printable(result.content).trimEnd();
  const shown = isWhole || text.length <= shownOfResult ? text : `${text.slice(0, shownOfResult)} …`;
  const end = isDenied ? "denied" : result.isError ? "failed" : "result";
  const mark = result.outcome === undefined ? end : (outcomes[result.outcome] ?? "result");
  return `[${mark}]:${shown.includes("\n") ? "\n" : " "}${shown}`;
}

const outcomes: Readonly<Record<string, string>> = {
  "not-run": "not run",
  interrupted: "interrupted",
  unknown: "outcome unknown",
};

/** How a run ended, where that is worth a line; in a room, of each turn too. */
export function endLine(
  { status, error, author }: BlockOf<"end">,
  { kind, members }: Pick<ChatPlace, "kind" | "members">,
): string | undefined {
  const speaker = kind === "room" ? members.find(({ id }) => id === `@${author}`)?.id : undefined;
  if (status === "cancelled") return speaker ? `[System]: ${speaker} was stopped.` : "[System]: Stopped.";
  if (status !== "failed") return undefined;
  return `[System]: ${speaker ? `${speaker} failed` : "Failed"}: ${printable(error ?? "unknown error")}`;
}

/** That a run that had ended goes on. */
export function resumeLine({ by }: BlockOf<"resume">): string {
  return `[System]: Continued${by === "" ? "" : `, resumed by ${printable(by)}`}.`;
}

/** That a whole room was stopped, when who was speaking has just been told as stopped. */
export function isAlreadyShown(block: ConversationBlock, before: ConversationBlock | undefined): boolean {
  return [block, before].every((each) => each?.kind === "end" && each.status === "cancelled");
}

export function planLines({ steps }: BlockOf<"plan">): string {
  return steps.map(({ text, state }) => `  ${states[state]} ${printable(text)}`).join("\n");
}

const states = { open: "·", running: "▸", done: "✓", failed: "✗", skipped: "–" } as const;

/** Sources, numbered as the text names them. */
export function sourceLines({ result }: BlockOf<"call">): string | undefined {
  if (!result || result.sources.length === 0) return undefined;
  return result.sources
    .map(({ title, url, page }, at) => {
      const where = url ?? (page === undefined ? "" : `page ${page}`);
      return `  [${at + 1}] ${printable(title)}${where === "" ? "" : `  ${printable(where)}`}`;
    })
    .join("\n");
}

/** In a room by their names there; with one agent, people are all `@user`. */
export function speakerOf(block: BlockOf<"message"> | BlockOf<"call">, place: Pick<ChatPlace, "kind">): string {
  if (block.kind === "message" && block.role === "user" && place.kind === "agent") return "@user";
  return `@${block.author ?? "agent"}`;
}

export function isShown({ role, text, files }: BlockOf<"message">): boolean {
  return role !== "system" && (text.trim() !== "" || files.length > 0);
}

/** The `cmd` of a shell tool. */
function commandIn(given: string): string | undefined {
  try {
    const value: unknown = JSON.parse(given);
    if (typeof value !== "object" || value === null) return undefined;
    for (const key of ["cmd", "command", "code"]) {
      const text: unknown = (value as Record<string, unknown>)[key];
      if (typeof text === "string") return text;
    }
    return undefined;
  } catch {
    return undefined;
  }
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}
