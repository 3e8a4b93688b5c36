import { answer } from "../../answers/answer.ts";
import { refuse } from "../../answers/request-values.ts";
import { type EndpointCall, endpoint } from "../../server/endpoint.ts";
import { decodeChat, decodeGenerate, type OllamaRequest } from "./decode.ts";
import { chatForm, generateForm, type OllamaForm, ollamaWire } from "./encode.ts";
import { chatAnswers, chatBodySchema, generateAnswers, generateBodySchema } from "./schemas.ts";
import { findServed, servedName } from "./served-models.ts";
import { withCallIds } from "./waiting-calls.ts";

export const ollamaChat = endpoint({
  needs: "ask",
  tag: "Ollama",
  summary: "Answer a conversation",
  description: "Ollama's chat, in lines of JSON unless `stream` is false.",
  takesLong: true,
  body: chatBodySchema,
  decodesBody: true,
  answers: chatAnswers,
  handle: (call) => ask(call, decodeChat(call.body), chatForm),
});

export const ollamaGenerate = endpoint({
  needs: "ask",
  tag: "Ollama",
  summary: "Answer a prompt",
  description: "As `/api/chat` with one message.",
  takesLong: true,
  body: generateBodySchema,
  decodesBody: true,
  answers: generateAnswers,
  handle: (call) => ask(call, decodeGenerate(call.body), generateForm),
});

async function ask(call: EndpointCall, asked: OllamaRequest, form: OllamaForm): Promise<string | object | undefined> {
  const { services, reply, caller } = call;
  if (
    findServed(asked.model, services) === undefined &&
    (await services.embeddingModels.list(caller)).includes(asked.model)
  )
    refuse("model", `"${asked.model}" does not support ${form === chatForm ? "chat" : "generate"}: it embeds`);
  const model = servedName(asked.model, services);
  if (asked.load) return loaded(asked.model, asked.load, form);
  if (asked.untold.length > 0)
    reply.header("x-colloquy-warning", `models are not told: ${asked.untold.join(", ")}`.slice(0, 1000));
  const request = { ...asked, model };
  const isOfAgent = services.agents.has(model) && !services.models.has(model);
  return answer(call, isOfAgent ? await withCallIds(call, request) : request, () => ollamaWire(asked.model, form));
}

/** There is nothing to load here, and nothing is unloaded. */
function loaded(model: string, reason: "load" | "unload", { fields }: OllamaForm): object {
  return { model, created_at: new Date().toISOString(), ...fields({ content: "" }), done: true, done_reason: reason };
}
