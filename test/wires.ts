import type { ModelConfig } from "../src/models/config.ts";

/** One of the protocols that providers speak, for tests against `test/model-servers`. */
export type TestWire = {
  readonly name: "openai" | "ollama" | "anthropic";
  /** The model `served` at a model server of this address. */
  readonly model: (url: string) => ModelConfig;
  /** Where a request has the schema that its answer is held to. */
  readonly formatField: string;
};

export const testWires: readonly TestWire[] = [
  {
    name: "openai",
    model: (url) => ({ id: "served", provider: "openai", baseUrl: `${url}/v1`, model: "served", apiKey: "none" }),
    formatField: "response_format",
  },
  {
    name: "ollama",
    model: (url) => ({ id: "served", provider: "ollama", baseUrl: url, model: "served" }),
    formatField: "format",
  },
  {
    name: "anthropic",
    model: (url) => ({ id: "served", provider: "anthropic", baseUrl: `${url}/v1`, model: "served", apiKey: "none" }),
    formatField: "output_config",
  },
];
