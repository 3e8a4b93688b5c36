import { argumentText, pieces, reasonOf } from "./answers.ts";
import type { Body, ServerAnswer, WireFormat } from "./answers.ts";

const reasons = { stop: "stop", length: "length", calls: "tool_calls", filter: "content_filter" } as const;

function frame(payload: object): string {
  return `data: ${JSON.stringify(payload)}\n\n`;
}

function chunk(delta: object, finish: string | null = null): string {
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "served" };
  return frame({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
}

function usageOf(answer: ServerAnswer): object | undefined {
  if (answer.usage === null) return undefined;
  const { input, output } = answer.usage ?? { input: 3, output: 4 };
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

/** Chat completions, as OpenAI and llama.cpp stream them. Calls without an id of their own all get the same one. */
export const openaiWire: WireFormat = {
  contentType: "text/event-stream",
  streams: (body) => body["stream"] === true,
  frames(answer, body) {
    const said = [
      chunk({ role: "assistant", content: "" }),
      ...pieces(answer.reasoning).map((text) => chunk({ reasoning_content: text })),
      ...pieces(answer.text).map((text) => chunk({ content: text })),
    ];
    for (const [index, call] of (answer.calls ?? []).entries()) {
      const text = argumentText(call);
      const half = text.length >> 1;
      said.push(
        chunk({
          tool_calls: [
            { index, id: call.id ?? "call_same", type: "function", function: { name: call.name, arguments: "" } },
          ],
        }),
        chunk({ tool_calls: [{ index, function: { arguments: text.slice(0, half) } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: text.slice(half) } }] }),
      );
    }
    const usage = usageOf(answer);
    const wantsUsage = (body["stream_options"] as { include_usage?: boolean } | undefined)?.include_usage === true;
    return {
      said,
      finish: [
        chunk({}, reasons[reasonOf(answer)]),
        ...(usage && wantsUsage
          ? [
              frame({
                id: "chatcmpl-1",
                object: "chat.completion.chunk",
                created: 1,
                model: "served",
                choices: [],
                usage,
              }),
            ]
          : []),
      ],
      mark: ["data: [DONE]\n\n"],
    };
  },
  errorFrame: (message) => frame({ error: { message, type: "server_error", code: null, param: null } }),
  whole(answer: ServerAnswer, _body: Body) {
    const calls = answer.calls?.map((call, index) => ({
      id: call.id ?? `call_${index}`,
      type: "function",
      function: { name: call.name, arguments: argumentText(call) },
    }));
    const reasoning = pieces(answer.reasoning).join("");
    const message = {
      role: "assistant",
      content: pieces(answer.text).join("") || null,
      refusal: null,
      tool_calls: calls,
    };
    return {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "served",
      choices: [
        {
          index: 0,
          message: { ...message, ...(reasoning && { reasoning_content: reasoning }) },
          logprobs: null,
          finish_reason: reasons[reasonOf(answer)],
        },
      ],
      usage: usageOf(answer),
    };
  },
  errorBody: (status, message) => ({
    error: { message, type: status === 503 ? "unavailable_error" : "invalid_request_error", param: null, code: status },
  }),
};
