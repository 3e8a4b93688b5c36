import { NotFound } from "../../../protocol/base/errors.ts";

/** Where an answer stands: a run, and the seq of its thread behind which the answer begins. */
export type ResponsePlace = { readonly runId: string; readonly seq: number };

export function responseId({ runId, seq }: ResponsePlace): string {
  return `resp_${bare(runId)}_${seq.toString(36)}`;
}

/** Throws NotFound for what is no id of a response that was kept. */
export function placeOfResponse(id: string, param = "id"): ResponsePlace {
  const match = /^resp_([0-9a-f]{32})_([0-9a-z]{1,10})$/.exec(id);
  if (!match) throw noResponse(id, param);
  return { runId: uuid(match[1]!), seq: Number.parseInt(match[2]!, 36) };
}

export function noResponse(id: string, param: string): NotFound {
  return new NotFound(`Response with id '${id.slice(0, 100)}' not found.`, { param, code: "response_not_found" });
}

/** The id of an item of a response: `responseId` begins with `resp_`. */
export function itemIdIn(response: string, prefix: string, index: number): string {
  return `${prefix}_${response.slice(5)}_${index.toString(36)}`;
}

/** The response that an item stands in, and where; undefined for what is no such id. */
export function placeOfItem(id: string): { readonly response: string; readonly index: number } | undefined {
  const match = /^[a-z]{1,8}_([0-9a-f]{32}_[0-9a-z]{1,10})_([0-9a-z]{1,6})$/.exec(id);
  return match ? { response: "resp_" + match[1]!, index: Number.parseInt(match[2]!, 36) } : undefined;
}

export function conversationId(threadId: string): string {
  return "conv_" + bare(threadId);
}

export function threadOfConversation(id: string, param = "id"): string {
  const match = /^conv_([0-9a-f]{32})$/.exec(id);
  if (!match)
    throw new NotFound(`Conversation with id '${id.slice(0, 100)}' not found.`, {
      param,
      code: "conversation_not_found",
    });
  return uuid(match[1]!);
}

export function approvalId(questionId: string): string {
  return "mcpr_" + bare(questionId);
}

/** Undefined for what is no id of an approval that we asked for. */
export function questionOfApproval(id: string): string | undefined {
  const match = /^mcpr_([0-9a-f]{32})$/.exec(id);
  return match ? uuid(match[1]!) : undefined;
}

function bare(id: string): string {
  return id.replaceAll("-", "");
}

function uuid(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
