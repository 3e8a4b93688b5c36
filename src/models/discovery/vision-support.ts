import { ModelError } from "../../protocol/base/errors.ts";
import type { ModelContentPart, ModelMessage, ModelRequest } from "../../protocol/agents/models.ts";
import { askJson, fieldOf } from "./ask-json.ts";
import { isPrivateHost } from "./ask-context-size.ts";
import type { ProviderConfig } from "../config.ts";
import { endpoint } from "../transport/endpoint.ts";
import type { ModelTransport } from "../transport/http-adapter.ts";

/** Whether a model takes pictures; undefined: nobody knows, so it is shown them. Never throws, and is asked only where there are some. */
export type VisionSupport = () => Promise<boolean | undefined>;

const timeoutMs = 1000;

/** As it is configured, else what the server says, else what is known of the family. A server that did not answer is asked again. */
export function visionSupportOf(
  config: ProviderConfig,
  connection: Pick<ModelTransport, "dispatcher" | "isOwn">,
): VisionSupport {
  if (config.provider === "demo") return async () => undefined;
  const { vision } = config;
  if (vision !== undefined) return async () => vision;
  const otherwise = "model" in config && isBlindFamily(config.model) ? false : undefined;
  let found: boolean | undefined;
  return async () => (found ??= await askServer(config, connection)) ?? otherwise;
}

async function askServer(
  config: Exclude<ProviderConfig, { readonly provider: "demo" }>,
  { dispatcher, isOwn }: Pick<ModelTransport, "dispatcher" | "isOwn">,
): Promise<boolean | undefined> {
  if (config.provider !== "ollama" && config.provider !== "openai") return undefined;
  const headers = { ...(config.apiKey && { authorization: `Bearer ${config.apiKey}` }), ...config.headers };
  const ask = async (url: URL, body?: object) => {
    const reply = await askJson(url, { timeoutMs, headers, dispatcher, ...(body && { body }) });
    return "status" in reply && reply.status === 200 ? reply.body : undefined;
  };
  const { model, baseUrl } = config;
  if (config.provider === "ollama") {
    const url = endpoint(baseUrl ?? "http://localhost:11434", "api/show");
    return isOwn?.(url) ? undefined : includes(fieldOf(await ask(url, { model }), "capabilities"), "vision");
  }
  if (baseUrl === undefined) return undefined;
  const url = endpoint(baseUrl, "chat/completions", { version: "v1" });
  if (!isPrivateHost(url) || isOwn?.(url)) return undefined;
  const root = new URL(url.pathname.replace(/(v1\/)?chat\/completions$/, ""), url);
  const studioPath = `api/v0/models/${model.split("/").map(encodeURIComponent).join("/")}`;
  const [props, studio] = await Promise.all([ask(new URL("props", root)), ask(new URL(studioPath, root))]);
  // llama.cpp, LM Studio
  const modality = fieldOf(fieldOf(props, "modalities"), "vision");
  if (typeof modality === "boolean") return modality;
  const type = fieldOf(studio, "type");
  return type === "vlm" ? true : type === "llm" ? false : undefined;
}

function includes(list: unknown, word: string): boolean | undefined {
  return Array.isArray(list) ? list.includes(word) : undefined;
}

/** Families that only read text, by the last part of the name. Those that nobody has named here are shown pictures. */
const blindFamilies = [
  /^(gpt-3\.5|gpt-oss|o1-mini|o1-preview|o3-mini)/,
  /^deepseek-(chat|reasoner|coder|r1|v2|v3)/,
  /^(meta-)?llama-?(2|3|3\.1|3\.3)(?![.\d])/,
  /^(codellama|codegemma|codestral|starcoder|mixtral|mistral-7b|mistral-nemo|open-mistral|tinyllama|smollm|command-r)/,
  /^(qwq|qwen-?(2|2\.5|3)(?![.\d]))(?!.*(vl|omni))/,
  /^phi-?(2|3|3\.5|4)(?!.*(vision|multimodal))/,
  /^kimi-k2(?!\.)/,
  /^gemma-?2/,
];

function isBlindFamily(name: string): boolean {
  const last = name.toLowerCase().split("/").at(-1) ?? "";
  return blindFamilies.some((family) => family.test(last));
}

const saysItIsBlind =
  /does(n't| not) support (image|vision|multimodal)|image input is not supported|not a (vision|multimodal) model|\bmmproj\b|no endpoints found that support image|content must be a string|unknown variant .{0,3}image_url/i;

/** A model that refuses pictures as such, not this one for its size or type. */
export function refusesPictures(error: unknown): boolean {
  if (!(error instanceof ModelError) || (error.kind !== "refused" && error.kind !== "server")) return false;
  return saysItIsBlind.test(error.cause instanceof Error ? error.cause.message : error.message);
}

export function countPictures({ messages }: Pick<ModelRequest, "messages">): number {
  return messages.reduce((sum, message) => sum + partsOf(message).filter(({ type }) => type === "image").length, 0);
}

/** The same request with a line of text in place of each picture. */
export function withoutPictures(request: ModelRequest): ModelRequest {
  const messages = request.messages.map((message): ModelMessage => {
    const parts = partsOf(message);
    if (message.role !== "user" || !parts.some(({ type }) => type === "image")) return message;
    // Servers that know nothing but text take nothing but a string.
    return { ...message, content: parts.map((part) => (part.type === "text" ? part.text : lineFor(part))).join("\n") };
  });
  return { ...request, messages };
}

function lineFor({ name, url }: Extract<ModelContentPart, { type: "image" }>): string {
  const type = /^data:([^;,]{1,100})/.exec(url)?.[1];
  const what = [name === undefined ? "A picture" : `The picture ${name}`, type && `(${type})`]
    .filter(Boolean)
    .join(" ");
  return `[${what} is not shown here: this model takes no pictures.]`;
}

function partsOf(message: ModelMessage): readonly ModelContentPart[] {
  return message.role === "user" && typeof message.content !== "string" ? message.content : [];
}
