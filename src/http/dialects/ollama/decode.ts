import type { ModelSettings, ResponseFormat } from "../../../protocol/agents/models.ts";
import type { AnswerMessage, AnswerRequest } from "../../answers/answer-request.ts";
import { decodeFunctionTools } from "../../answers/function-tools.ts";
import { samplingIn, stopsIn } from "../../answers/request-settings.ts";
import {
  bodyFields,
  isFields,
  type JsonFields,
  modelIn,
  optionalBoolean,
  optionalFields,
  optionalNumber,
  optionalString,
  refuse,
} from "../../answers/request-values.ts";
import { decodeMessages, withImages } from "./decode-messages.ts";

/** A request of this dialect in our own words; `load`: it asks for no answer, only that the model is there or gone. */
export type OllamaRequest = AnswerRequest & {
  readonly load?: "load" | "unload";
  /** What it says that no model is told. */
  readonly untold: readonly string[];
};

/** Reads the body of `/api/chat`; throws InvalidInput with the parameter at fault. */
export function decodeChat(body: unknown): OllamaRequest {
  const fields = bodyFields(body);
  const list = fields["messages"] ?? [];
  if (!Array.isArray(list)) refuse("messages", "must be a list");
  const tools = decodeFunctionTools(fields["tools"] ?? []);
  return {
    ...decodeShared(fields, list.length === 0),
    messages: decodeMessages(list),
    ...(tools.length > 0 && { tools }),
  };
}

/** What a prompt alone can't be asked for: it would be answered as if it were not there. */
const unlike = {
  suffix: "filling in before a suffix is not supported: send messages to /api/chat",
  template: "templates are the model's own: send system, or messages to /api/chat",
  context: "is not kept from one answer to the next: send messages to /api/chat, or the header x-session-id",
} as const;

/** Reads the body of `/api/generate`. */
export function decodeGenerate(body: unknown): OllamaRequest {
  const fields = bodyFields(body);
  for (const [name, fault] of Object.entries(unlike)) {
    const value = fields[name];
    if (value != null && value !== "" && !(Array.isArray(value) && value.length === 0)) refuse(name, fault);
  }
  if (optionalBoolean(fields, "raw")) refuse("raw", "prompts are always told in the model's own template");
  const prompt = optionalString(fields, "prompt") ?? "";
  const system = optionalString(fields, "system") ?? "";
  const content = withImages(prompt, fields["images"]);
  const messages: AnswerMessage[] = [{ role: "user", content }];
  if (system !== "") messages.unshift({ role: "system", content: system });
  return { ...decodeShared(fields, content === ""), messages };
}

/** The model's name; older clients say `name`. */
export function modelOf(fields: JsonFields): string {
  return optionalString(fields, "model") || optionalString(fields, "name") || modelIn(fields);
}

function decodeShared(fields: JsonFields, isEmpty: boolean): Omit<OllamaRequest, "messages"> {
  if (optionalBoolean(fields, "logprobs") || optionalNumber(fields, "top_logprobs"))
    refuse("logprobs", "are not given");
  const { settings, untold } = decodeOptions(optionalFields(fields, "options") ?? {});
  const reasoningEffort = decodeThink(fields["think"]);
  return {
    model: modelOf(fields),
    stream: optionalBoolean(fields, "stream") ?? true,
    format: decodeFormat(fields["format"]),
    settings: { ...settings, ...(reasoningEffort !== undefined && { reasoningEffort }) },
    untold,
    ...(isEmpty && { load: isZero(fields["keep_alive"]) ? "unload" : "load" }),
  };
}

/** `true` means as much as most models think by themselves. */
function decodeThink(think: unknown): string | undefined {
  if (think == null || think === "") return undefined;
  if (typeof think === "boolean") return think ? "medium" : "none";
  if (typeof think !== "string") refuse("think", "must be true, false, or a level such as low, medium or high");
  return think;
}

function decodeFormat(format: unknown): ResponseFormat | undefined {
  if (format == null || format === "") return undefined;
  if (format === "json") return { type: "json" };
  if (!isFields(format)) refuse("format", `must be "json" or a JSON schema`);
  return { type: "json-schema", name: "answer", schema: format };
}

/** Options about how a machine holds a model: of no meaning to whoever asks. */
const ofMachines =
  /^(num_ctx|num_batch|num_gpu|num_thread|num_keep|main_gpu|low_vram|f16_kv|logits_all|vocab_only|use_mmap|use_mlock|numa|embedding_only|draft_num_predict)$/;

function decodeOptions(options: JsonFields): { settings: ModelSettings; untold: readonly string[] } {
  const whole = (name: string) => optionalNumber(options, name, { whole: true }, "options.");
  const topK = whole("top_k");
  const seed = whole("seed");
  const most = whole("num_predict");
  const settings: ModelSettings = {
    ...samplingIn(options, "options."),
    // 0 and less mean: as many as there are, as long as it takes, any.
    topK: topK !== undefined && topK > 0 ? topK : undefined,
    maxTokens: most !== undefined && most > 0 ? most : undefined,
    seed: seed !== undefined && seed >= 0 ? seed : undefined,
    stop: stopsIn(options, "options."),
  };
  const told = /^(temperature|top_p|top_k|num_predict|seed|stop|frequency_penalty|presence_penalty)$/;
  const untold = Object.keys(options).filter(
    (name) => options[name] != null && !told.test(name) && !ofMachines.test(name),
  );
  return { settings, untold: untold.map((name) => `options.${name}`) };
}

/** How long nothing at all is, as a number of seconds or a duration such as `0s`. */
function isZero(keepAlive: unknown): boolean {
  return keepAlive === 0 || (typeof keepAlive === "string" && /^0+(\.0+)?(ns|us|µs|ms|s|m|h)?$/.test(keepAlive));
}
