import { parseExactly } from "../../src/protocol/base/exact-json.ts";
import { pieces, reasonOf } from "./answers.ts";
import type { ServerAnswer, ServerCall, WireFormat } from "./answers.ts";

function line(message: object, done = false, more: object = {}): object {
  return {
    model: "served",
    created_at: "2026-01-01T00:00:00Z",
    message: { role: "assistant", content: "", ...message },
    done,
    ...more,
  };
}

function ending(answer: ServerAnswer): object {
  const counts =
    answer.usage === null ? {} : { prompt_eval_count: answer.usage?.input ?? 3, eval_count: answer.usage?.output ?? 4 };
  return { done_reason: reasonOf(answer) === "length" ? "length" : "stop", total_duration: 1, ...counts };
}

/** Arguments are an object on this wire; older servers give no id. */
function toolCall(call: ServerCall): object {
  const given = typeof call.arguments === "string" ? (parseExactly(call.arguments) as object) : call.arguments;
  return { ...(call.id && { id: call.id }), function: { name: call.name, arguments: given } };
}

/** Ollama's `/api/chat`. */
export const ollamaWire: WireFormat = {
  contentType: "application/x-ndjson",
  streams: (body) => body["stream"] !== false,
  frames(answer) {
    const calls = answer.calls?.map(toolCall);
    const said = [
      ...pieces(answer.reasoning).map((thinking) => line({ thinking })),
      ...pieces(answer.text).map((content) => line({ content })),
      ...(calls?.length ? [line({ tool_calls: calls })] : []),
    ];
    return { said: said.map(written), finish: [], mark: [written(line({}, true, ending(answer)))] };
  },
  errorFrame: (message) => written({ error: message }),
  whole: (answer) =>
    line(
      {
        content: pieces(answer.text).join(""),
        ...(answer.reasoning && { thinking: pieces(answer.reasoning).join("") }),
        ...(answer.calls && { tool_calls: answer.calls.map(toolCall) }),
      },
      true,
      ending(answer),
    ),
  errorBody: (_status, message) => ({ error: message }),
};

function written(payload: object): string {
  return JSON.stringify(payload) + "\n";
}
