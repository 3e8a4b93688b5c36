import type { Usage } from "../../../protocol/agents/models.ts";
import type { RunOptions } from "../../../protocol/threads/runs.ts";
import { isFields, type JsonFields } from "../../answers/request-values.ts";

export type ResponseStatus = "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";

/** What a response is, besides what is said in it: its place, and what its request asked for. */
export type ResponseHead = {
  readonly id: string;
  /** Unix time in seconds. */
  readonly createdAt: number;
  /** The fields of the request that are told back. */
  readonly echo: JsonFields;
};

export type ResponseState = {
  readonly status: ResponseStatus;
  readonly model: string;
  readonly output: readonly object[];
  readonly usage?: Usage | undefined;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  readonly incomplete?: "max_output_tokens" | "content_filter" | undefined;
};

/** Fields of a request that its response tells back as they were, with what they are where it has none. */
const echoed: JsonFields = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  safety_identifier: null,
  service_tier: "default",
  store: true,
  background: false,
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  tool_choice: "auto",
  truncation: "disabled",
};

/** What is kept of a request for its response: what differs from the usual. */
export function echoOf(body: JsonFields, tools: readonly JsonFields[], conversation: string | undefined): JsonFields {
  const given = Object.keys(echoed).filter((name) => body[name] != null && body[name] !== echoed[name]);
  const { text, reasoning } = body;
  return {
    ...Object.fromEntries(given.map((name) => [name, body[name]])),
    ...(text != null && { text }),
    ...(reasoning != null && { reasoning }),
    ...(tools.length > 0 && { tools }),
    ...(conversation !== undefined && { conversation: { id: conversation } }),
  };
}

/** Where an answer stands is said by its own request, also if it is one of several of a run. */
const placing = ["previous_response_id", "conversation", "store", "background"];

/** Tells what a run has that went on with results: what it began with, its request's place, and tools that are new there. */
export function echoOfRun({ echo: kept = {} }: Pick<RunOptions, "echo">, asked: JsonFields): JsonFields {
  const { model: _, ...begun } = kept;
  const tools = [...toolsIn(begun)];
  const known = new Set(tools.map(placeOf));
  tools.push(...toolsIn(asked).filter((tool) => !known.has(placeOf(tool))));
  const isPlace = ([name]: readonly [string, unknown]) => placing.includes(name);
  return {
    ...Object.fromEntries(Object.entries(begun).filter((field) => !isPlace(field))),
    ...Object.fromEntries(Object.entries(asked).filter(isPlace)),
    ...(tools.length > 0 && { tools }),
  };
}

function toolsIn({ tools }: JsonFields): readonly JsonFields[] {
  return Array.isArray(tools) ? tools.filter(isFields) : [];
}

function placeOf({ type, name, server_label: label }: JsonFields): string {
  return JSON.stringify([type, name ?? label]);
}

export function responseObject({ id, createdAt, echo }: ResponseHead, state: ResponseState): object {
  const { status, model, output, usage, error, incomplete } = state;
  return {
    id,
    object: "response",
    created_at: createdAt,
    completed_at: status === "completed" ? Math.floor(Date.now() / 1000) : null,
    status,
    error: error ?? null,
    incomplete_details: incomplete ? { reason: incomplete } : null,
    model,
    output,
    tools: [],
    ...echoed,
    ...echo,
    text: { format: { type: "text" }, ...(echo["text"] as object | undefined) },
    reasoning: { effort: null, summary: null, ...(echo["reasoning"] as object | undefined) },
    usage: usageOf(usage ?? { inputTokens: 0, outputTokens: 0 }),
  };
}

function usageOf({ inputTokens, outputTokens, cachedTokens = 0, reasoningTokens = 0 }: Usage): object {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}

/** When a run began, by its id. */
export function timeOfId(id: string): number {
  return Math.floor(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16) / 1000);
}
