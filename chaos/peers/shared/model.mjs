import { tools } from "./tools.mjs";

/** One answer of the model, for engines that bring no agent of their own; `onText` makes it a stream. */
export async function askModel(messages, onText) {
  const response = await fetch(`${process.env.MODEL_URL}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: "scripted",
      stream: onText !== undefined,
      messages,
      tools: tools.map(({ name, description }) => ({
        type: "function",
        function: {
          name,
          description,
          parameters: { type: "object", properties: { effect: { type: "string" } }, required: ["effect"] },
        },
      })),
    }),
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok) throw new Error(`the model answered ${response.status}`);
  return onText ? readStream(response, onText) : (await response.json()).choices[0].message;
}

async function readStream(response, onText) {
  const message = { role: "assistant", content: "", tool_calls: [] };
  let rest = "";
  let isWhole = false;
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line === "data: [DONE]") isWhole = true;
      else if (line.startsWith("data: ")) await addDelta(message, JSON.parse(line.slice(6)).choices[0]?.delta, onText);
    }
  }
  if (!isWhole) throw new Error("the model's answer was cut");
  if (message.tool_calls.length === 0) delete message.tool_calls;
  return message;
}

async function addDelta(message, delta, onText) {
  if (delta?.content) {
    message.content += delta.content;
    await onText(delta.content);
  }
  for (const { index, id, function: part } of delta?.tool_calls ?? []) {
    const call = (message.tool_calls[index] ??= { id, type: "function", function: { name: "", arguments: "" } });
    call.function.name += part.name ?? "";
    call.function.arguments += part.arguments ?? "";
  }
}
