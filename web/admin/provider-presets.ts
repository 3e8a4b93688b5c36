/** A provider whose address is known: choosing it leaves only the key to be entered, and of a program on this machine nothing. */
export type ProviderPreset = {
  readonly name: string;
  readonly baseUrl: string;
  readonly needsKey: boolean;
};

/** Addresses as the providers document them; of Azure and vLLM, where the name of one's own resource or machine must be filled in. */
export const providerPresets: readonly ProviderPreset[] = [
  { name: "OpenAI", baseUrl: "https://api.openai.com/v1", needsKey: true },
  { name: "Anthropic", baseUrl: "https://api.anthropic.com", needsKey: true },
  { name: "Google", baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai", needsKey: true },
  { name: "OpenRouter", baseUrl: "https://openrouter.ai/api/v1", needsKey: true },
  { name: "Groq", baseUrl: "https://api.groq.com/openai/v1", needsKey: true },
  { name: "Mistral", baseUrl: "https://api.mistral.ai/v1", needsKey: true },
  { name: "Azure", baseUrl: "https://your-resource.openai.azure.com/openai/v1", needsKey: true },
  { name: "Ollama", baseUrl: "http://localhost:11434", needsKey: false },
  { name: "llama.cpp", baseUrl: "http://localhost:8080/v1", needsKey: false },
  { name: "LM Studio", baseUrl: "http://localhost:1234/v1", needsKey: false },
  { name: "vLLM", baseUrl: "http://localhost:8000/v1", needsKey: false },
];
