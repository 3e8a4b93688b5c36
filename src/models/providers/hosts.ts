/** What is known of a host that speaks OpenAI's protocol in its own way. */
export type HostRules = {
  /** Fields it refuses; they are never sent. */
  readonly refuses: ReadonlySet<string>;
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  /** Only `auto` and `none`; a stronger wish becomes `auto`. */
  readonly weakToolChoice?: boolean;
  /** Wants `strict: true` on every tool. */
  readonly strictTools?: boolean;
  /** The environment variable that usually holds its key; without a key it answers nothing. */
  readonly keyVariable?: string;
  /** Tokens of prompt and answer when the config does not say. */
  readonly contextTokens: number;
};

const none: ReadonlySet<string> = new Set();
const cloud = { refuses: new Set(["top_k"]), maxTokensField: "max_tokens", contextTokens: 128_000 } as const;

const rulesByHost: Readonly<Record<string, HostRules>> = {
  "api.openai.com": { ...cloud, maxTokensField: "max_completion_tokens", keyVariable: "OPENAI_API_KEY" },
  "api.cerebras.ai": {
    refuses: new Set([
      "frequency_penalty",
      "logit_bias",
      "parallel_tool_calls",
      "presence_penalty",
      "prompt_cache_key",
      "service_tier",
      "store",
      "top_k",
      "verbosity",
    ]),
    maxTokensField: "max_completion_tokens",
    weakToolChoice: true,
    strictTools: true,
    keyVariable: "CEREBRAS_API_KEY",
    contextTokens: 128_000,
  },
  "api.groq.com": { ...cloud, keyVariable: "GROQ_API_KEY" },
  "api.mistral.ai": { ...cloud, keyVariable: "MISTRAL_API_KEY" },
  "api.deepseek.com": { ...cloud, keyVariable: "DEEPSEEK_API_KEY" },
  "api.together.xyz": { ...cloud, refuses: none, keyVariable: "TOGETHER_API_KEY" },
  "openrouter.ai": { ...cloud, refuses: none, keyVariable: "OPENROUTER_API_KEY" },
};

/** Servers in one's own house: llama.cpp, vLLM, LM Studio and the like. */
const ownServer: HostRules = { refuses: none, maxTokensField: "max_tokens", contextTokens: 8192 };

export function rulesOfHost(url: URL): HostRules {
  return rulesByHost[url.hostname] ?? ownServer;
}

/** Variables whose presence means that a provider could be used, with the address it has. */
const keyVariables: readonly { readonly variable: string; readonly host: string }[] = [
  ...Object.entries(rulesByHost).flatMap(([host, { keyVariable }]) =>
    keyVariable ? [{ variable: keyVariable, host }] : [],
  ),
  { variable: "ANTHROPIC_API_KEY", host: "api.anthropic.com" },
];

/** The variable whose key a host demands; undefined: it answers without one, or is not known. */
export function keyVariableOfHost(url: URL): string | undefined {
  return keyVariables.find(({ host }) => host === url.hostname)?.variable;
}
