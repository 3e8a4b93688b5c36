import { argumentText, pieces, reasonOf } from "./answers.ts";
import type { ServerAnswer, WireFormat } from "./answers.ts";

const reasons = { stop: "end_turn", length: "max_tokens", calls: "tool_use", filter: "refusal" } as const;
const errorTypes: Readonly<Record<number, string>> = {
  401: "authentication_error",
  404: "not_found_error",
  429: "rate_limit_error",
  500: "api_error",
  529: "overloaded_error",
};

function frame(payload: { type: string }): string {
  return `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`;
}

type Block = { readonly start: object; readonly deltas: readonly object[] };

function blocksOf(answer: ServerAnswer): readonly Block[] {
  const blocks: Block[] = [];
  if (answer.reasoning !== undefined) {
    const thinking = pieces(answer.reasoning).map((text) => ({ type: "thinking_delta", thinking: text }));
    blocks.push({
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [...thinking, { type: "signature_delta", signature: "signed" }],
    });
  }
  if (answer.text !== undefined) {
    blocks.push({
      start: { type: "text", text: "" },
      deltas: pieces(answer.text).map((text) => ({ type: "text_delta", text })),
    });
  }
  for (const [index, call] of (answer.calls ?? []).entries()) {
    const text = argumentText(call);
    const half = text.length >> 1;
    const parts = text === "{}" ? [""] : ["", text.slice(0, half), text.slice(half)];
    blocks.push({
      start: { type: "tool_use", id: call.id ?? `toolu_${index}`, name: call.name, input: {} },
      deltas: parts.map((partial_json) => ({ type: "input_json_delta", partial_json })),
    });
  }
  return blocks;
}

/** Anthropic's Messages. */
export const anthropicWire: WireFormat = {
  contentType: "text/event-stream",
  streams: (body) => body["stream"] === true,
  frames(answer) {
    const { input, output } = answer.usage ?? { input: 3, output: 4 };
    const usage = answer.usage === null ? undefined : { input_tokens: input, output_tokens: 1 };
    const start = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "served",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    };
    const said = [frame({ type: "message_start", message: start } as { type: string }), frame({ type: "ping" })];
    for (const [index, block] of blocksOf(answer).entries()) {
      said.push(event("content_block_start", { index, content_block: block.start }));
      for (const delta of block.deltas) said.push(event("content_block_delta", { index, delta }));
      said.push(event("content_block_stop", { index }));
    }
    const delta = { stop_reason: reasons[reasonOf(answer)], stop_sequence: null };
    return {
      said,
      finish: [event("message_delta", { delta, usage: answer.usage === null ? undefined : { output_tokens: output } })],
      mark: [frame({ type: "message_stop" })],
    };
  },
  errorFrame: (message) => event("error", { error: { type: "api_error", message } }),
  whole(answer) {
    const { input, output } = answer.usage ?? { input: 3, output: 4 };
    return {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "served",
      content: [
        ...(answer.text === undefined ? [] : [{ type: "text", text: pieces(answer.text).join("") }]),
        ...(answer.calls ?? []).map((call, index) => ({
          type: "tool_use",
          id: call.id ?? `toolu_${index}`,
          name: call.name,
          input: JSON.parse(argumentText(call)) as unknown,
        })),
      ],
      stop_reason: reasons[reasonOf(answer)],
      stop_sequence: null,
      usage: { input_tokens: input, output_tokens: output },
    };
  },
  errorBody: (status, message) => ({
    type: "error",
    error: { type: errorTypes[status] ?? "invalid_request_error", message },
    request_id: "req_1",
  }),
};

function event(type: string, fields: object): string {
  return frame({ type, ...fields });
}
