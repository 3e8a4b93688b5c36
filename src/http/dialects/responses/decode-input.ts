import type { ModelCall, ModelContentPart } from "../../../protocol/agents/models.ts";
import { InvalidInput } from "../../../protocol/base/errors.ts";
import { itemIdOfCall } from "../../../protocol/threads/items.ts";
import type { AnswerMessage, UserMessage } from "../../answers/answer-request.ts";
import { isFields, type JsonFields, refuse } from "../../answers/request-values.ts";
import { fieldsIn, modelName } from "./tool-names.ts";

/** As in the native API. */
const maxFiles = 20;

export type ApprovalAnswer = { readonly approvalId: string; readonly approve: boolean; readonly reason?: string };

export type DecodedInput = {
  readonly messages: readonly AnswerMessage[];
  /** What a client sends as an item of the input because the model knows it so. */
  readonly tools: readonly JsonFields[];
  readonly approvals: readonly ApprovalAnswer[];
  /** Results whose calls are not among the items: those of the response before. */
  readonly results: ReadonlySet<string>;
};

/** A file that came in the request itself. */
export type SentFile = { readonly name: string; readonly bytes: Uint8Array };

/**
 * Reads the items of `input`, references looked up before. Every call is followed by its result, wherever that stood. Items of
 * other servers' tools say nothing to a model here and are left out.
 */
export function decodeInput(items: readonly JsonFields[], keep: (file: SentFile) => string): DecodedInput {
  const messages: AnswerMessage[] = [];
  const tools: JsonFields[] = [];
  const approvals: ApprovalAnswer[] = [];
  const outputs = outputsIn(items);
  const called = new Set<string>();
  const results = new Set<string>();
  let open: ModelCall[] = [];

  const closeCalls = () => {
    for (const { id, name } of open) {
      const content = outputs.get(id);
      if (content === undefined)
        throw new InvalidInput(`No tool output found for function call ${id}.`, { param: "input" });
      messages.push({ role: "tool", callId: id, name, content });
    }
    open = [];
  };
  const addCall = (call: ModelCall, at: string) => {
    if (called.has(call.id)) refuse(at + ".call_id", `${call.id} occurs twice`);
    called.add(call.id);
    const last = messages.at(-1);
    if (last?.role === "assistant") messages[messages.length - 1] = { ...last, calls: [...(last.calls ?? []), call] };
    else messages.push({ role: "assistant", content: "", calls: [call] });
    open.push(call);
  };

  for (const [index, item] of items.entries()) {
    const at = `input[${index}]`;
    const type = item["type"] ?? "message";
    if (type === "function_call" || type === "custom_tool_call") {
      addCall(callOf(item, at), at);
      continue;
    }
    if (type === "reasoning") continue;
    if (type === "mcp_call") {
      const { id, name, arguments: written, output, error } = item;
      if (typeof id !== "string" || typeof name !== "string" || (output == null && error == null)) continue;
      addCall({ id, name, arguments: typeof written === "string" ? written : "{}" }, at);
      outputs.set(id, typeof output === "string" ? output : JSON.stringify(error ?? output));
      continue;
    }
    closeCalls();
    if (type === "message") {
      const message = messageOf(item, at, keep);
      if (message.role === "user" && approvals.length > 0)
        refuse(at, "comes behind an mcp_approval_response: send it with the next request, when its answer is there");
      messages.push(message);
    } else if (type === "function_call_output" || type === "custom_tool_call_output") {
      const callId = item["call_id"];
      if (typeof callId !== "string") refuse(at + ".call_id", "must be a string");
      if (called.has(callId)) continue;
      called.add(callId);
      results.add(callId);
      messages.push({ role: "tool", callId, name: "", content: outputs.get(callId)! });
    } else if (type === "additional_tools") tools.push(...fieldsIn(item["tools"]));
    else if (type === "mcp_approval_response") approvals.push(approvalOf(item, at));
    else if (String(type).endsWith("_output")) messages.push({ role: "user", content: JSON.stringify(item) });
  }
  closeCalls();
  return { messages, tools, approvals, results };
}

/** Results of calls that neither the items nor a run of ours made. */
export function checkResults({ results }: DecodedInput): void {
  for (const id of results)
    if (itemIdOfCall(id) === undefined)
      throw new InvalidInput(`No tool call found for function call output with call_id ${id.slice(0, 100)}.`, {
        param: "input",
      });
}

function outputsIn(items: readonly JsonFields[]): Map<string, string> {
  const outputs = new Map<string, string>();
  for (const [index, { type, call_id: id, output }] of items.entries())
    if ((type === "function_call_output" || type === "custom_tool_call_output") && typeof id === "string")
      outputs.set(id, outputText(output, `input[${index}].output`));
  return outputs;
}

/** A string, or a list of parts; a picture among them can't be told to a model here. */
function outputText(output: unknown, at: string): string {
  if (typeof output === "string") return output;
  if (!Array.isArray(output)) refuse(at, "must be a string or a list of parts");
  return fieldsIn(output)
    .map((part) => (typeof part["text"] === "string" ? part["text"] : `[${String(part["type"]).slice(0, 50)}]`))
    .join("\n");
}

function callOf(item: JsonFields, at: string): ModelCall {
  const { call_id: id, name, namespace, arguments: written, input } = item;
  if (typeof id !== "string" || id === "") refuse(at + ".call_id", "must be a string");
  if (typeof name !== "string" || name === "") refuse(at + ".name", "must be a string");
  const known = modelName({ name, ...(typeof namespace === "string" && { namespace }) });
  if (item["type"] === "custom_tool_call")
    return { id, name: known, arguments: JSON.stringify({ input: input ?? "" }) };
  if (typeof written !== "string") refuse(at + ".arguments", "must be a string of JSON");
  return { id, name: known, arguments: written };
}

function approvalOf(item: JsonFields, at: string): ApprovalAnswer {
  const { approval_request_id: approvalId, approve, reason } = item;
  if (typeof approvalId !== "string") refuse(at + ".approval_request_id", "must be a string");
  if (typeof approve !== "boolean") refuse(at + ".approve", "must be true or false");
  return { approvalId, approve, ...(typeof reason === "string" && reason !== "" && { reason }) };
}

function messageOf(item: JsonFields, at: string, keep: (file: SentFile) => string): AnswerMessage {
  switch (item["role"]) {
    case "user":
      return { role: "user", ...userContent(item["content"], at, keep) };
    case "assistant":
      return { role: "assistant", content: plainText(item["content"], at) };
    case "system":
    case "developer":
      return { role: "system", content: plainText(item["content"], at), saidAs: item["role"] };
    default:
      refuse(at + ".role", "must be one of user, assistant, system, developer");
  }
}

function plainText(content: unknown, at: string): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) refuse(at + ".content", "must be a string or a list of parts");
  return content
    .map((part: unknown, index) => {
      const text = isFields(part) ? (part["type"] === "refusal" ? part["refusal"] : part["text"]) : undefined;
      if (typeof text !== "string") refuse(`${at}.content[${index}]`, "must be a part with a text in this role");
      return text;
    })
    .join("");
}

function userContent(
  content: unknown,
  at: string,
  keep: (file: SentFile) => string,
): Pick<UserMessage, "content" | "fileIds"> {
  if (typeof content === "string") return { content };
  if (!Array.isArray(content) || content.length === 0) refuse(at + ".content", "must be a string or a list of parts");
  const fileIds: string[] = [];
  const parts = content.flatMap((part: unknown, index): ModelContentPart[] => {
    const here = `${at}.content[${index}]`;
    if (!isFields(part)) refuse(here, "must be an object");
    const file = fileIn(part, here, keep);
    if (typeof file !== "string") return [file ?? textPart(part, here)];
    if (fileIds.push(file) > maxFiles) refuse(at + ".content", `has more than ${maxFiles} files`);
    return [];
  });
  return fileIds.length === 0 ? { content: parts } : { content: parts.length === 0 ? "" : parts, fileIds };
}

function textPart({ type, text }: JsonFields, at: string): ModelContentPart {
  if (type !== "input_text" && type !== "output_text" && type !== "text")
    refuse(at + ".type", `${JSON.stringify(type)} is not supported: send input_text, input_image or input_file`);
  if (typeof text !== "string") refuse(at + ".text", "must be a string");
  return { type: "text", text };
}

/** The id of a file, or the part of an image; undefined for other parts. */
function fileIn(part: JsonFields, at: string, keep: (file: SentFile) => string): string | ModelContentPart | undefined {
  const { type, file_id: id, image_url: url, file_data: data, filename } = part;
  if (type !== "input_image" && type !== "input_file") return undefined;
  if (typeof id === "string") return id;
  if (type === "input_image") {
    if (typeof url !== "string" || !/^(?:https?:\/\/|data:image\/)/.test(url))
      refuse(at + ".image_url", "must be an http(s) URL or a data:image/… URL");
    return { type: "image", url };
  }
  if (typeof data !== "string")
    refuse(at, "must have file_data (base64) or the file_id of a file that POST /v1/files took");
  const bytes = Buffer.from(data.replace(/^data:[^,]*,/, ""), "base64");
  if (bytes.length === 0) refuse(at + ".file_data", "must be the file in base64");
  return keep({ name: typeof filename === "string" && filename !== "" ? filename : "file", bytes });
}
