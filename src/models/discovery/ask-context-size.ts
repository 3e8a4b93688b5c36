import { BlockList, isIP } from "node:net";
import type { Dispatcher } from "undici";
import { askJson, fieldOf } from "./ask-json.ts";
import type { FoundSize } from "../transport/context-size.ts";

/** So long the first request to a model may wait for its size. */
const timeoutMs = 1000;

export type SizeQuestion = {
  /** The name the server knows. */
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
};

/**
 * What Ollama's `/api/show` says of a model: the `num_ctx` of its Modelfile, else `usual`, but never more than it was made for.
 * More than `usual` would be held in memory for each model, so only a person asks for it.
 */
export async function askOllamaContextSize(
  url: URL,
  { model, headers, dispatcher, usual }: SizeQuestion & { readonly usual: number },
): Promise<FoundSize> {
  const reply = await askJson(url, { timeoutMs, headers, dispatcher, body: { model } });
  if (!("status" in reply) || reply.status !== 200) return undefined;
  const { body } = reply;
  const parameters = fieldOf(body, "parameters");
  const set = typeof parameters === "string" ? /^[ \t]*num_ctx\s+(\d+)/m.exec(parameters)?.[1] : undefined;
  const info = fieldOf(body, "model_info");
  const made = sizeIn(fieldOf(info, `${String(fieldOf(info, "general.architecture"))}.context_length`));
  const tokens = Math.min(sizeIn(Number(set)) ?? usual, made ?? Infinity);
  return { tokens, isSettled: true };
}

/** Fields of an entry of `/v1/models` that hold a model's size: of vLLM, OpenRouter and its kind, Groq, and what others call it. */
const listedSizes = ["max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens"];

/**
 * What a server that nobody knows says beside OpenAI's protocol: llama.cpp's `/props`, LM Studio's `/api/v0/models/<id>`,
 * Ollama's `/api/show`, or a field of `/v1/models`. `root` is the address before `v1/`.
 */
export async function askContextSize(
  root: URL,
  { model, headers, dispatcher, usual }: SizeQuestion & { readonly usual: number },
): Promise<FoundSize> {
  const get = async (path: string) => {
    const reply = await askJson(new URL(path, root), { timeoutMs, headers, dispatcher });
    return "status" in reply && reply.status === 200 ? reply.body : undefined;
  };
  const [props, studio, list] = await Promise.all([
    get("props"),
    get(`api/v0/models/${model.split("/").map(encodeURIComponent).join("/")}`),
    get("v1/models"),
  ]);
  const listed = fieldOf(list, "data");
  const entry = Array.isArray(listed) ? listed.find((one) => fieldOf(one, "id") === model) : undefined;
  const tokens =
    sizeIn(fieldOf(fieldOf(props, "default_generation_settings"), "n_ctx")) ??
    sizeIn(fieldOf(studio, "loaded_context_length")) ??
    listedSizes.map((name) => sizeIn(fieldOf(entry, name))).find((size) => size !== undefined);
  if (tokens !== undefined) return { tokens, isSettled: true };
  // Not loaded yet: how much of it will be is known when it is.
  const most = sizeIn(fieldOf(studio, "max_context_length"));
  if (most !== undefined) return { tokens: Math.min(most, usual), isSettled: false };
  const ollama = await askOllamaContextSize(new URL("api/show", root), { model, headers, dispatcher, usual });
  // By OpenAI's protocol Ollama can't be told how much to hold, so what it holds may become less or more.
  return ollama && { ...ollama, isSettled: false };
}

const privateAddresses = new BlockList();
for (const [network, bits] of [
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
  ["100.64.0.0", 10],
] as const)
  privateAddresses.addSubnet(network, bits, "ipv4");
for (const [network, bits] of [
  ["::1", 128],
  ["fc00::", 7],
  ["fe80::", 10],
] as const)
  privateAddresses.addSubnet(network, bits, "ipv6");

/** On this machine or in a private network. Of a name that only a resolver could tell, the answer is no. */
export function isPrivateHost({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  const version = isIP(host);
  if (version !== 0) return privateAddresses.check(host, version === 4 ? "ipv4" : "ipv6");
  return !host.includes(".") || /\.(localhost|local|lan|internal|home\.arpa)$/i.test(host);
}

function sizeIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;
}
