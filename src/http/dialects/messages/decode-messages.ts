import type { ModelCall, ModelContentPart } from "../../../protocol/agents/models.ts";
import type { AnswerMessage, UserMessage } from "../../answers/answer-request.ts";
import { isFields, type JsonFields, refuse } from "../../answers/request-values.ts";
import { blocksOf, type DecodedAsides, readShownBlock, type ReadContent, textOf } from "./decode-blocks.ts";

export type DecodedMessages = { readonly messages: readonly AnswerMessage[]; readonly asides: DecodedAsides };

type Conversation = DecodedMessages & {
  readonly messages: AnswerMessage[];
  /** Names of the calls still without a result, by id. */
  readonly open: Map<string, string>;
  /** Results may be of calls that were made before: the server keeps the conversation. */
  readonly isContinued: boolean;
};

/**
 * Reads `messages`. Written by hand, since histories are long and this runs before the first token. A user's message becomes
 * the results in it and then the rest; what a `system` message says in mid-conversation is a part of it, since the templates of
 * many models take no other place for it.
 */
export function decodeMessages(list: unknown, { isContinued = false } = {}): DecodedMessages {
  if (!Array.isArray(list) || list.length === 0) refuse("messages", "must be a list of at least one message");
  const asides = { referenced: new Set<string>(), removed: new Set<string>(), defined: [], leftOut: new Set<string>() };
  const conversation: Conversation = { messages: [], asides, open: new Map(), isContinued };
  for (let index = 0; index < list.length; index++) {
    const fields: unknown = list[index];
    const at = `messages[${index}]`;
    if (!isFields(fields)) refuse(at, "must be an object");
    readMessage(fields, at, conversation);
  }
  refuseOpen(conversation, "messages");
  return conversation;
}

function readMessage(fields: JsonFields, at: string, conversation: Conversation): void {
  const blocks = blocksOf(fields["content"], `${at}.content`);
  switch (fields["role"]) {
    case "user":
      readUser(blocks, `${at}.content`, conversation);
      return refuseOpen(conversation, at);
    case "assistant":
      return readAssistant(blocks, `${at}.content`, conversation);
    case "system":
      return readSystem(blocks, `${at}.content`, conversation);
    default:
      refuse(`${at}.role`, "must be user, assistant or system");
  }
}

function refuseOpen({ open }: Conversation, at: string): void {
  if (open.size === 0) return;
  refuse(
    at,
    `tool_use ids were found without tool_result blocks: ${[...open.keys()].join(", ")}. Each tool_use block must have a tool_result block in the next message`,
  );
}

function readAssistant(blocks: readonly JsonFields[], at: string, { messages, open, asides }: Conversation): void {
  let content = "";
  const calls: ModelCall[] = [];
  for (const [index, block] of blocks.entries()) {
    const here = `${at}[${index}]`;
    const type = String(block["type"]);
    if (type === "text") content += textOf(block, here);
    else if (type === "tool_use") calls.push(callOf(block, here, open));
    // What a model thought is its provider's; nothing here can check who signed it.
    else if (type === "thinking" || type === "redacted_thinking") continue;
    else if (isVendors(type)) asides.leftOut.add(type);
    else refuse(`${here}.type`, `${JSON.stringify(type)} is not supported in this role`);
  }
  if (calls.length > 0) messages.push({ role: "assistant", content, calls });
  else if (content !== "") messages.push({ role: "assistant", content });
}

/** What the vendor's own tools did, which only it can read. */
function isVendors(type: string): boolean {
  return /^(?:server_tool_use|mcp_tool_use|mcp_tool_listing|container_upload|compaction|fallback|\w+_tool_result)$/.test(
    type,
  );
}

function callOf(block: JsonFields, at: string, open: Map<string, string>): ModelCall {
  const { id, name, input } = block;
  if (typeof id !== "string" || id === "") refuse(`${at}.id`, "must be a string");
  if (typeof name !== "string" || name === "") refuse(`${at}.name`, "must be a string");
  if (!isFields(input)) refuse(`${at}.input`, "must be an object");
  if (open.has(id)) refuse(`${at}.id`, `${id} occurs twice`);
  open.set(id, name);
  return { id, name, arguments: JSON.stringify(input) };
}

function readUser(blocks: readonly JsonFields[], at: string, conversation: Conversation): void {
  const { asides } = conversation;
  const said: ReadContent = { parts: [], fileIds: [] };
  for (const [index, block] of blocks.entries()) {
    const here = `${at}[${index}]`;
    if (block["type"] === "tool_result") readResult(block, here, conversation, said);
    else if (!readShownBlock(block, here, said, asides)) {
      const type = String(block["type"]);
      if (!isVendors(type)) refuse(`${here}.type`, `${JSON.stringify(type)} is not supported in this role`);
      asides.leftOut.add(type);
    }
  }
  if (said.parts.length > 0 || said.fileIds.length > 0) say(conversation.messages, said);
}

/** The text of a result; its pictures follow in what the user says, where models take them. */
function readResult(block: JsonFields, at: string, conversation: Conversation, said: ReadContent): void {
  const { messages, open, isContinued, asides } = conversation;
  const callId = block["tool_use_id"];
  if (typeof callId !== "string") refuse(`${at}.tool_use_id`, "must be a string");
  const name = open.get(callId);
  if (name === undefined && !isContinued)
    refuse(at, `unexpected tool_use_id: no tool_use block of the message before has the id ${callId}`);
  open.delete(callId);
  const read: ReadContent = { parts: [], fileIds: said.fileIds };
  for (const [index, part] of blocksOf(block["content"] ?? "", `${at}.content`).entries()) {
    const here = `${at}.content[${index}]`;
    if (readShownBlock(part, here, read, asides)) continue;
    if (part["type"] === "tool_reference") {
      const tool = textOf(part, here, "tool_name");
      asides.referenced.add(tool);
      read.parts.push({ type: "text", text: `The tool ${tool} can be called now.` });
    } else read.parts.push({ type: "text", text: JSON.stringify(part) });
  }
  const pictures = read.parts.filter((part) => part.type === "image");
  if (pictures.length > 0)
    said.parts.push({ type: "text", text: `In the result of ${name ?? "the tool"}:` }, ...pictures);
  const content = read.parts.map((part) => (part.type === "text" ? part.text : "[A picture, shown below.]")).join("\n");
  messages.push({
    role: "tool",
    callId,
    name: name ?? "",
    content,
    ...(block["is_error"] === true && { isError: true }),
  });
}

function readSystem(blocks: readonly JsonFields[], at: string, { messages, asides }: Conversation): void {
  const parts: ModelContentPart[] = [];
  for (const [index, block] of blocks.entries()) {
    const here = `${at}[${index}]`;
    const { type, tool } = block;
    if (type === "text") parts.push({ type: "text", text: `<system>\n${textOf(block, here)}\n</system>` });
    else if (type === "tool_addition" && isFields(tool)) {
      if (tool["type"] === "tool_definition") asides.defined.push(tool["definition"]);
      else if (typeof tool["name"] === "string") {
        asides.referenced.add(tool["name"]);
        asides.removed.delete(tool["name"]);
      }
    } else if (type === "tool_removal" && isFields(tool) && typeof tool["name"] === "string")
      asides.removed.add(tool["name"]);
    else refuse(`${here}.type`, `${JSON.stringify(type)} is not supported in this role`);
  }
  if (parts.length > 0) say(messages, { parts, fileIds: [] });
}

/** Several messages of the user in a row are one. */
function say(messages: AnswerMessage[], { parts, fileIds }: ReadContent): void {
  const last = messages.at(-1);
  const before: UserMessage | undefined = last?.role === "user" ? last : undefined;
  if (before) messages.pop();
  const known = before === undefined ? [] : partsOf(before);
  const ids = [...(before?.fileIds ?? []), ...fileIds];
  messages.push({ role: "user", content: contentOf([...known, ...parts]), ...(ids.length > 0 && { fileIds: ids }) });
}

function partsOf({ content }: UserMessage): readonly ModelContentPart[] {
  if (typeof content !== "string") return content;
  return content === "" ? [] : [{ type: "text", text: content }];
}

/** Texts alone are one text, which every model takes. */
function contentOf(parts: readonly ModelContentPart[]): UserMessage["content"] {
  if (parts.some((part) => part.type !== "text")) return parts;
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n\n");
}
