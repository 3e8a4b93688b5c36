import type { ModelContentPart, ModelCall, ModelMessage } from "../../../protocol/agents/models.ts";
import type { AnswerMessage, UserMessage } from "../../answers/answer-request.ts";
import { isFields, type JsonFields, optionalString, refuse } from "../../answers/request-values.ts";

/** As in the native API. */
const maxFiles = 20;

/**
 * Reads `messages`. Written by hand, since histories are long and this runs before the first token.
 * Every call is answered right after the message that made it, and every result has its call.
 */
export function decodeMessages(value: unknown): readonly AnswerMessage[] {
  if (!Array.isArray(value) || value.length === 0) refuse("messages", "must be a list of at least one message");
  const messages: AnswerMessage[] = [];
  /** Names of the calls still without a result, by id. */
  const open = new Map<string, string>();
  for (let index = 0; index < value.length; index++) {
    const fields: unknown = value[index];
    const at = `messages[${index}]`;
    if (!isFields(fields)) refuse(at, "must be an object");
    if (open.size > 0 && fields["role"] !== "tool") refuse(at, unanswered(open));
    messages.push(decodeMessage(fields, at, open));
  }
  if (open.size > 0) refuse("messages", unanswered(open));
  return messages;
}

function unanswered(open: ReadonlyMap<string, string>): string {
  return `the tool calls before it have no result: ${[...open.keys()].join(", ")}. Each needs a message with role "tool" and its tool_call_id`;
}

function decodeMessage(fields: JsonFields, at: string, open: Map<string, string>): AnswerMessage {
  switch (fields["role"]) {
    case "user":
      return {
        role: "user",
        ...userContent(fields["content"], at),
        name: optionalString(fields, "name", at + "."),
      };
    case "assistant":
      return assistantMessage(fields, at, open);
    case "tool":
      return toolMessage(fields, at, open);
    case "system":
    case "developer":
      return { role: "system", content: plainText(fields["content"], at) };
    default:
      refuse(at + ".role", "must be one of developer, system, user, assistant, tool");
  }
}

function assistantMessage(fields: JsonFields, at: string, open: Map<string, string>): ModelMessage {
  const content = fields["content"] == null ? "" : plainText(fields["content"], at);
  const list = fields["tool_calls"];
  if (list == null) return { role: "assistant", content };
  if (!Array.isArray(list)) refuse(at + ".tool_calls", "must be a list");
  const calls = list.map((call: unknown, index): ModelCall => {
    const here = `${at}.tool_calls[${index}]`;
    const made = isFields(call) ? call["function"] : undefined;
    if (!isFields(call) || !isFields(made))
      refuse(here, `must be {"id", "type": "function", "function": {"name", "arguments"}}`);
    const { id } = call;
    const { name, arguments: written } = made;
    if (typeof id !== "string" || id === "") refuse(here + ".id", "must be a string");
    if (typeof name !== "string" || name === "") refuse(here + ".function.name", "must be a string");
    if (typeof written !== "string") refuse(here + ".function.arguments", "must be a string of JSON");
    if (open.has(id)) refuse(here + ".id", `${id} occurs twice`);
    open.set(id, name);
    return { id, name, arguments: written };
  });
  return calls.length === 0 ? { role: "assistant", content } : { role: "assistant", content, calls };
}

function toolMessage(fields: JsonFields, at: string, open: Map<string, string>): ModelMessage {
  const callId = fields["tool_call_id"];
  if (typeof callId !== "string") refuse(at + ".tool_call_id", "must be a string");
  const name = open.get(callId);
  if (name === undefined) refuse(at + ".tool_call_id", `no open call ${callId} in the assistant's message before it`);
  open.delete(callId);
  return { role: "tool", callId, name, content: plainText(fields["content"], at) };
}

/** A string, or text parts joined. */
function plainText(content: unknown, at: string): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) refuse(at + ".content", "must be a string or a list of text parts");
  let text = "";
  content.forEach((part: unknown, index) => {
    const here = `${at}.content[${index}]`;
    if (!isFields(part)) refuse(here, "must be an object");
    const piece = part["type"] === "refusal" ? part["refusal"] : part["text"];
    if (part["type"] !== "refusal" && part["type"] !== "text") refuse(here + ".type", `must be "text" in this role`);
    if (typeof piece !== "string") refuse(here, "its text must be a string");
    text += piece;
  });
  return text;
}

function userContent(content: unknown, at: string): Pick<UserMessage, "content" | "fileIds"> {
  if (typeof content === "string") return { content };
  if (!Array.isArray(content) || content.length === 0) refuse(at + ".content", "must be a string or a list of parts");
  const fileIds: string[] = [];
  const parts = content.flatMap((part: unknown, index) => {
    const here = `${at}.content[${index}]`;
    if (!isFields(part) || part["type"] !== "file") return [userPart(part, here)];
    const id = isFields(part["file"]) ? part["file"]["file_id"] : undefined;
    if (typeof id !== "string") refuse(here + ".file.file_id", "must be the id of a file that POST /v1/files took");
    if (fileIds.push(id) > maxFiles) refuse(at + ".content", `has more than ${maxFiles} files`);
    return [];
  });
  return fileIds.length === 0 ? { content: parts } : { content: parts.length === 0 ? "" : parts, fileIds };
}

function userPart(part: unknown, at: string): ModelContentPart {
  if (!isFields(part)) refuse(at, "must be an object");
  if (part["type"] === "text") {
    if (typeof part["text"] !== "string") refuse(at + ".text", "must be a string");
    return { type: "text", text: part["text"] };
  }
  if (part["type"] === "image_url") {
    const url = isFields(part["image_url"]) ? part["image_url"]["url"] : undefined;
    if (typeof url !== "string" || !/^(?:https?:\/\/|data:image\/)/.test(url))
      refuse(at + ".image_url.url", "must be an http(s) URL or a data:image/… URL");
    return { type: "image", url };
  }
  refuse(at + ".type", `${JSON.stringify(part["type"])} is not supported: send "text", "image_url" or "file"`);
}
