import { InvalidInput } from "../../../protocol/base/errors.ts";
import { newId } from "../../../protocol/base/ids.ts";
import type { NewItem } from "../../../protocol/threads/items.ts";

/** A request of a chat page in our own words. */
export type ChatBody = {
  /** The user's last message. */
  readonly text: string;
  /** The page reads an AI SDK UI message stream. */
  readonly streams: boolean;
  /** Who is to answer, if the page says so. */
  readonly agent?: string;
  /** `session_id`, as it was given. */
  readonly session?: unknown;
  /** The page's own name of the conversation. */
  readonly conversation?: string;
  readonly system?: string;
  /** Messages before it in the page. */
  readonly history: readonly NewItem[];
};

type ChatFields = { readonly [name: string]: unknown };

/** Keys that only the bodies of assistant-ui's data stream and of the AI SDK's `useChat` have. */
const streamKeys = ["trigger", "tools", "runConfig", "state", "unstable_assistantMessageId"];

/**
 * Reads the three bodies that chat pages send: `{messages: [{role, content}]}` alone; that of assistant-ui's data stream,
 * with `tools` and `threadId`; and that of the AI SDK, with `id` and messages of `parts`. Throws InvalidInput.
 */
export function decodeChat(body: unknown, accept: string | undefined): ChatBody {
  if (!isFields(body)) refuse("body", "must be a JSON object");
  const { messages } = body;
  if (!Array.isArray(messages)) refuse("messages", "must be a list");
  for (const [index, message] of messages.entries())
    if (!isFields(message)) refuse(`messages[${index}]`, "must be an object");
  const said = messages as readonly ChatFields[];
  const last = said.findLastIndex((message) => message["role"] === "user" && textsOf(message).length > 0);
  const texts = last === -1 ? [] : textsOf(said[last]!);
  if (!streamsWanted(body, said, accept)) {
    return {
      text: texts[0] || "No text content provided.",
      streams: false,
      ...agentOf(body),
      session: body["session_id"],
      history: [],
    };
  }
  const system = [body["system"], ...said.filter(({ role }) => role === "system").flatMap(textsOf)].filter(Boolean);
  const conversation = nameOf(body["threadId"] ?? body["id"]);
  return {
    text: texts.join("\n\n") || "No text content provided.",
    streams: true,
    ...agentOf(body),
    session: body["session_id"],
    ...(conversation === undefined ? {} : { conversation }),
    ...(system.length > 0 ? { system: system.join("\n\n") } : {}),
    history: historyOf(said.slice(0, Math.max(0, last))),
  };
}

/** `agent` beside the messages, as `useChat` sends what is given as `body`; of assistant-ui in what its run config holds. */
function agentOf(body: ChatFields): Pick<ChatBody, "agent"> {
  const config = isFields(body["runConfig"]) ? body["runConfig"] : {};
  const custom = isFields(config["custom"]) ? config["custom"] : {};
  const agent = agentIn({ agent: body["agent"] ?? custom["agent"] });
  return agent === undefined ? {} : { agent };
}

/** Of the address, too, which may name it twice. */
export function agentIn({ agent }: { readonly agent?: unknown }): string | undefined {
  if (agent === undefined || agent === null) return undefined;
  return typeof agent === "string" ? agent : refuse("agent", "must be an agent's id");
}

/** assistant-ui calls conversations that only the page knows `__DEFAULT_ID__` and the like. */
function nameOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && !value.startsWith("__") ? value : undefined;
}

function streamsWanted(body: ChatFields, messages: readonly ChatFields[], accept = ""): boolean {
  if (accept.includes("text/event-stream")) return true;
  if (accept.includes("application/json")) return false;
  return streamKeys.some((key) => key in body) || messages.some((message) => Array.isArray(message["parts"]));
}

/** The text parts of a message; a plain string is one. */
function textsOf({ parts, content = parts }: ChatFields): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) =>
    isFields(part) && part["type"] === "text" && typeof part["text"] === "string" ? [part["text"]] : [],
  );
}

/** Returns the messages; tool calls belong to another server's past. */
function historyOf(messages: readonly ChatFields[]): NewItem[] {
  return messages.flatMap((message, index): NewItem[] => {
    const content = textsOf(message).join("\n\n");
    const { role } = message;
    if (content === "" || (role !== "user" && role !== "assistant")) return [];
    const step = role === "assistant" ? { step: `history:${index + 1}` } : {};
    return [{ id: newId(), kind: "message", ...step, body: { role, content } }];
  });
}

function isFields(value: unknown): value is ChatFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** 422, as the pages expect it. */
function refuse(param: string, fault: string): never {
  throw new InvalidInput(`${param}: ${fault}`, { param, status: 422 });
}
