/** Known differences of a host from OpenAI's protocol. */
export type HostRules = {
  /** Fields that the host rejects; they are never sent. */
  readonly refuses: ReadonlySet<string>;
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  /** The host supports only `auto` and `none`; other values become `auto`. */
  readonly weakToolChoice?: boolean;
  /** The host requires `strict: true` on every tool. */
  readonly strictTools?: boolean;
  /** Environment variable that usually holds its key, which the host requires. */
  readonly keyVariable?: string;
  /** Context size in tokens if the configuration doesn't set one. */
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

/** Self-hosted servers: llama.cpp, vLLM, LM Studio and the like. */
const ownServer: HostRules = { refuses: none, maxTokensField: "max_tokens", contextTokens: 8192 };

/** Of others only they themselves know how much a model holds. */
export function isKnownHost(url: URL): boolean {
  return Object.hasOwn(rulesByHost, url.hostname);
}

export function rulesOfHost(url: URL): HostRules {
  return rulesByHost[url.hostname] ?? ownServer;
}

/** Variables that show that a provider could be used, with its address. */
const keyVariables: readonly { readonly variable: string; readonly host: string }[] = [
  ...Object.entries(rulesByHost).flatMap(([host, { keyVariable }]) =>
    keyVariable ? [{ variable: keyVariable, host }] : [],
  ),
  { variable: "ANTHROPIC_API_KEY", host: "api.anthropic.com" },
];

/** Returns the variable with the key that a host requires; undefined if it needs none or is unknown. */
export function keyVariableOfHost(url: URL): string | undefined {
  return keyVariables.find(({ host }) => host === url.hostname)?.variable;
}
