import type { ModelCall, ModelContentPart } from "../../../protocol/agents/models.ts";
import type { AnswerMessage } from "../../answers/answer-request.ts";
import { isFields, type JsonFields, optionalString, refuse } from "../../answers/request-values.ts";

/** A call that has no result yet. Older clients know of no ids. */
type OpenCall = { call: ModelCall; readonly isUnnamed: boolean };

/**
 * Reads `messages`. Written by hand, since histories are long and this runs before the first token. Each call is answered right
 * after the message that made it: by its id where the client tells it, else by the tool's name, in the order of the calls.
 */
export function decodeMessages(list: readonly unknown[]): readonly AnswerMessage[] {
  const messages: AnswerMessage[] = [];
  let open: OpenCall[] = [];
  let calls: ModelCall[] = [];
  for (let index = 0; index < list.length; index++) {
    const fields = list[index];
    const at = `messages[${index}]`;
    if (!isFields(fields)) refuse(at, "must be an object");
    const { role } = fields;
    const content = optionalString(fields, "content", at + ".") ?? "";
    if (role === "tool") {
      messages.push(toolMessage(fields, content, { at, open, calls }));
      continue;
    }
    if (open.length > 0) refuse(at, unanswered(open));
    if (role === "user") messages.push({ role, content: withImages(content, fields["images"], at) });
    else if (fields["images"] != null) refuse(at + ".images", "only a user's message may have images");
    else if (role === "system") messages.push({ role, content });
    else if (role === "assistant") {
      open = decodeCalls(fields["tool_calls"], at, index);
      calls = open.map(({ call }) => call);
      const reasoning = optionalString(fields, "thinking", at + ".");
      messages.push({ role, content, ...(reasoning && { reasoning }), ...(calls.length > 0 && { calls }) });
    } else refuse(at + ".role", "must be one of system, user, assistant, tool");
  }
  if (open.length > 0) refuse("messages", unanswered(open));
  return messages;
}

function unanswered(open: readonly OpenCall[]): string {
  return `the tool calls before it have no result: ${open.map(({ call }) => call.name).join(", ")}. Each needs a message with role "tool" and its tool_name`;
}

function decodeCalls(list: unknown, at: string, message: number): OpenCall[] {
  if (list == null) return [];
  if (!Array.isArray(list)) refuse(at + ".tool_calls", "must be a list");
  const ids = new Set<string>();
  return list.map((call: unknown, index): OpenCall => {
    const here = `${at}.tool_calls[${index}]`;
    const made = isFields(call) ? call["function"] : undefined;
    if (!isFields(call) || !isFields(made)) refuse(here, `must be {"function": {"name", "arguments"}}`);
    const { name, arguments: given = {} } = made;
    if (typeof name !== "string" || name === "") refuse(here + ".function.name", "must be a string");
    if (!isFields(given)) refuse(here + ".function.arguments", "must be an object");
    const named = optionalString(call, "id", here + ".") || undefined;
    const id = named ?? `call_unnamed_${message}_${index}`;
    if (ids.has(id)) refuse(here + ".id", `${id} occurs twice`);
    ids.add(id);
    return { call: { id, name, arguments: JSON.stringify(given) }, isUnnamed: named === undefined };
  });
}

type OpenCalls = { readonly at: string; readonly open: OpenCall[]; readonly calls: ModelCall[] };

function toolMessage(fields: JsonFields, content: string, { at, open, calls }: OpenCalls): AnswerMessage {
  if (fields["images"] != null) refuse(at + ".images", "only a user's message may have images");
  const id = optionalString(fields, "tool_call_id", at + ".") || undefined;
  const tool = optionalString(fields, "tool_name", at + ".") || optionalString(fields, "name", at + ".") || undefined;
  const place = findCall(open, id, tool);
  if (place === -1)
    refuse(
      id === undefined ? at + ".tool_name" : at + ".tool_call_id",
      `no open call ${id ?? tool ?? ""} in the assistant's message before it`,
    );
  const [{ call, isUnnamed }] = open.splice(place, 1) as [OpenCall];
  if (id === undefined || !isUnnamed) return { role: "tool", callId: call.id, name: call.name, content };
  // The result says what the call does not.
  calls[calls.indexOf(call)] = { ...call, id };
  return { role: "tool", callId: id, name: call.name, content };
}

/** -1: there is none. Without an id it is the first of the tool's name; without a name too, the first. */
function findCall(open: readonly OpenCall[], id: string | undefined, tool: string | undefined): number {
  const isOfTool = ({ call }: OpenCall) => tool === undefined || call.name === tool;
  if (id === undefined) return open.findIndex(isOfTool);
  const byId = open.findIndex(({ call }) => call.id === id);
  return byId === -1 ? open.findIndex((each) => each.isUnnamed && isOfTool(each)) : byId;
}

/** The beginnings of files in base64, which Ollama is sent without their type. */
const imageTypes: readonly (readonly [beginning: string, type: string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
];

/** A user's text with its images as parts. */
export function withImages(text: string, list: unknown, at = ""): string | readonly ModelContentPart[] {
  if (list == null) return text;
  const place = at === "" ? "images" : at + ".images";
  if (!Array.isArray(list)) refuse(place, "must be a list of images in base64");
  if (list.length === 0) return text;
  const images = list.map((image: unknown, index): ModelContentPart => {
    if (typeof image !== "string") refuse(`${place}[${index}]`, "must be an image in base64");
    if (/^data:image\/[\w.+-]+;base64,/.test(image.slice(0, 100))) return { type: "image", url: image };
    const type = imageTypes.find(([beginning]) => image.startsWith(beginning))?.[1];
    if (type === undefined) refuse(`${place}[${index}]`, "must be a PNG, JPEG, GIF or WebP image in base64");
    return { type: "image", url: `data:${type};base64,${image}` };
  });
  return text === "" ? images : [{ type: "text", text }, ...images];
}
