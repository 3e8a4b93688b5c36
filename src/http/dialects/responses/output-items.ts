import type { Citation } from "../../../protocol/knowledge/citations.ts";
import type { ItemOf } from "../../../protocol/threads/items.ts";
import { plainArguments } from "../../shapes/question-view.ts";
import { approvalId } from "./ids.ts";
import { type ClientTool, customInput } from "./tool-names.ts";

/** The label of the server whose tools run here, in items of its calls. */
const serverLabel = "colloquy";

type ItemStatus = "in_progress" | "completed" | "incomplete" | "failed";

export function messageItem(id: string, status: ItemStatus, text?: string, annotations: readonly object[] = []) {
  const content = text === undefined ? [] : [textPart(text, annotations)];
  return { type: "message", id, role: "assistant", status, content };
}

export function textPart(text: string, annotations: readonly object[] = []) {
  return { type: "output_text", text, annotations, logprobs: [] };
}

export function reasoningItem(id: string, status: ItemStatus, text?: string) {
  const summary = text === undefined ? [] : [{ type: "summary_text", text }];
  return { type: "reasoning", id, summary, status };
}

export function callItem(
  { id, callId, status, tool }: { id: string; callId: string; status: ItemStatus; tool: ClientTool },
  written: string,
) {
  const { type, name, namespace } = tool;
  const within = namespace === undefined ? {} : { namespace };
  return type === "custom"
    ? { type: "custom_tool_call", id, call_id: callId, name, ...within, input: customInput(written), status }
    : { type: "function_call", id, call_id: callId, name, ...within, arguments: written, status };
}

export type ServerCall = { readonly id: string; readonly name: string; readonly arguments: string };

export function serverCallItem(
  { id, name, arguments: written }: ServerCall,
  status: ItemStatus,
  result?: { readonly content: string; readonly isError: boolean },
) {
  return {
    type: "mcp_call",
    id,
    server_label: serverLabel,
    name,
    arguments: written,
    approval_request_id: null,
    output: result && !result.isError ? result.content : null,
    error: result?.isError
      ? { type: "mcp_tool_execution_error", content: [{ type: "text", text: result.content }] }
      : null,
    status,
  };
}

export function approvalItem({ id, body }: ItemOf<"question">) {
  return {
    type: "mcp_approval_request",
    id: approvalId(id),
    server_label: serverLabel,
    name: body.tool ?? "",
    arguments: plainArguments(body.arguments ?? "{}"),
  };
}

/** Its places are those in the text of its message. */
export function annotationOf({ source, start, end, quote, found }: Citation, offset: number): object {
  const { url, title, documentId = "", page } = source;
  const place = { start_index: start - offset, end_index: end - offset };
  if (url !== undefined) return { type: "url_citation", ...place, url, title };
  return {
    type: "file_citation",
    file_id: documentId,
    filename: title,
    index: start - offset,
    ...(page === undefined ? {} : { page }),
    ...(quote === undefined ? {} : { quote }),
    ...(found === undefined ? {} : { found }),
  };
}
