import assert from "node:assert/strict";
import { test } from "node:test";
import { providerFailure, statusFailure } from "./upstream-error.ts";

const target = { id: "m", provider: "openai", model: "m", endpoint: "https://example.com/v1/chat/completions" };

/** As providers sent them; the number is what the model holds, if they say it. */
const recorded: readonly (readonly [
  provider: string,
  status: number,
  body: object | string,
  tokens: number | undefined,
])[] = [
  [
    "OpenAI",
    400,
    {
      error: {
        message:
          "This model's maximum context length is 8192 tokens. However, your messages resulted in 10115 tokens. Please reduce the length of the messages.",
        type: "invalid_request_error",
        param: "messages",
        code: "context_length_exceeded",
      },
    },
    8192,
  ],
  [
    "OpenAI with tools",
    400,
    {
      error: {
        message:
          "This model's maximum context length is 16385 tokens. However, you requested 18113 tokens (13921 in the messages, 96 in the functions, and 4096 in the completion). Please reduce the length of the messages, functions, or completion.",
        type: "invalid_request_error",
        code: "context_length_exceeded",
      },
    },
    16385,
  ],
  [
    "OpenAI Responses",
    400,
    {
      error: {
        message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
        type: "invalid_request_error",
        param: "input",
        code: "context_length_exceeded",
      },
    },
    undefined,
  ],
  [
    "OpenAI, larger",
    400,
    {
      error: {
        message:
          "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 292115 tokens. Please reduce the length of the messages.",
        type: "invalid_request_error",
        code: "context_length_exceeded",
      },
    },
    272000,
  ],
  [
    "Anthropic",
    400,
    {
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 210123 tokens > 200000 maximum" },
    },
    200000,
  ],
  [
    "Anthropic with max_tokens",
    400,
    {
      type: "error",
      error: {
        type: "invalid_request_error",
        message:
          "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
      },
    },
    200000,
  ],
  [
    "llama.cpp",
    400,
    {
      error: {
        code: 400,
        message: "the request exceeds the available context size, try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 10115,
        n_ctx: 4096,
      },
    },
    4096,
  ],
  [
    "llama.cpp, newer",
    400,
    {
      error: {
        code: 400,
        message: "request (10115 tokens) exceeds the available context size (4096 tokens), try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 10115,
        n_ctx: 4096,
      },
    },
    4096,
  ],
  [
    "llama.cpp, older",
    500,
    {
      error: {
        code: 500,
        message:
          "the request exceeds the available context size. try increasing the context size or enable context shift",
        type: "server_error",
      },
    },
    undefined,
  ],
  [
    "llama-cpp-python",
    400,
    {
      error: {
        message:
          "This model's maximum context length is 512 tokens. However, you requested 757 tokens (501 in the messages, 256 in the completion).",
        type: "invalid_request_error",
        code: "context_length_exceeded",
      },
    },
    512,
  ],
  [
    "Ollama",
    400,
    {
      error:
        "exceed_context_size_error: request (10115 tokens) exceeds the available context size (8192 tokens), try increasing it",
    },
    8192,
  ],
  ["Ollama, without a number", 400, { error: "the input length exceeds the context length" }, undefined],
  [
    "vLLM",
    400,
    {
      object: "error",
      message:
        "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
      type: "BadRequestError",
      param: null,
      code: 400,
    },
    16384,
  ],
  [
    "vLLM, newer",
    400,
    {
      error: {
        message:
          "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 8192 tokens and your request has 568 input tokens (8192 > 8192 - 568).",
        type: "BadRequestError",
        code: 400,
      },
    },
    8192,
  ],
  [
    "vLLM, decoder",
    400,
    {
      error: {
        message:
          "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.",
        type: "BadRequestError",
        code: 400,
      },
    },
    4096,
  ],
  [
    "SGLang",
    400,
    {
      object: "error",
      message:
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5012 tokens: 4500 tokens from the input messages and 512 tokens for the completion.",
      code: 400,
    },
    4096,
  ],
  [
    "LM Studio",
    400,
    {
      error:
        "Trying to keep the first 5012 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input",
    },
    4096,
  ],
  [
    "Gemini",
    400,
    {
      error: {
        code: 400,
        message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        status: "INVALID_ARGUMENT",
      },
    },
    1048576,
  ],
  [
    "Mistral",
    400,
    {
      object: "error",
      message: "Prompt contains 40115 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      type: "invalid_request_prompt",
      code: "3051",
    },
    32768,
  ],
  [
    "Groq",
    400,
    {
      error: {
        message: "Please reduce the length of the messages or completion.",
        type: "invalid_request_error",
        param: "messages",
        code: "context_length_exceeded",
      },
    },
    undefined,
  ],
  [
    "Cerebras",
    400,
    {
      message: "Please reduce the length of the messages or completion. Current length is 10115 while limit is 8192",
      type: "invalid_request_error",
      param: "messages",
      code: "context_length_exceeded",
    },
    8192,
  ],
  [
    "xAI",
    400,
    {
      code: "Client specified an invalid argument",
      error: "This model's maximum prompt length is 131072 but the request contains 150115 tokens.",
    },
    131072,
  ],
  [
    "OpenRouter",
    400,
    {
      error: {
        message:
          'This endpoint\'s maximum context length is 8192 tokens. However, you requested about 10115 tokens (10019 of text input, 96 of tool input). Please reduce the length of either one, or use the "middle-out" transform.',
        code: 400,
      },
    },
    8192,
  ],
  [
    "Cohere",
    400,
    {
      message:
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5012. Try using a shorter prompt",
    },
    4081,
  ],
  [
    "text-generation-inference",
    422,
    {
      error:
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4500 `inputs` tokens and 512 `max_new_tokens`",
      error_type: "validation",
    },
    4096,
  ],
  ["Bedrock", 400, { message: "Input is too long for requested model." }, undefined],
];

for (const [provider, status, body, tokens] of recorded)
  test(`${provider}: a prompt that is too long is known as such, with what the model holds`, () => {
    const error = statusFailure(target, status, JSON.stringify(body));
    assert.deepEqual([error.kind, error.contextTokens], ["context", tokens]);
    assert.equal(error.retryable, false);
    const reported = providerFailure(target, body);
    assert.deepEqual([reported.kind, reported.contextTokens], ["context", tokens]);
  });

test("other refusals are none of a window", () => {
  for (const [status, message] of [
    [400, "max_tokens must be at least 1"],
    [400, "Invalid value for 'temperature'"],
    [413, "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 10115"],
    [429, "Rate limit reached: Limit 6000, Used 5900, Requested 4000 tokens"],
    [500, "internal error"],
  ] as const) {
    const error = statusFailure(target, status, JSON.stringify({ error: { message } }));
    assert.notEqual(error.kind, "context", message);
    assert.equal(error.contextTokens, undefined);
  }
});
