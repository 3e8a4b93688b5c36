import assert from "node:assert/strict";
import { test } from "node:test";
import { ollamaAddressSchema, withOllamaAddress } from "./ollama-address.ts";

/** What OLLAMA_HOST may hold, and where that is asked. */
const forms: readonly (readonly [given: string, url: string])[] = [
  ["gpu.lan", "http://gpu.lan:11434"],
  ["gpu.lan:8080", "http://gpu.lan:8080"],
  ["gpu.lan:80", "http://gpu.lan"],
  ["10.0.0.5", "http://10.0.0.5:11434"],
  ["0.0.0.0", "http://127.0.0.1:11434"],
  ["0.0.0.0:11435", "http://127.0.0.1:11435"],
  [":11435", "http://127.0.0.1:11435"],
  ["::1", "http://[::1]:11434"],
  ["::", "http://[::1]:11434"],
  ["[::1]:11435", "http://[::1]:11435"],
  ["http://gpu.lan", "http://gpu.lan"],
  ["http://gpu.lan:11434/", "http://gpu.lan:11434"],
  ["https://gpu.lan", "https://gpu.lan"],
  ["https://example.com/ollama/", "https://example.com/ollama"],
  ["http://gpu.lan:11434/v1", "http://gpu.lan:11434"],
  [" gpu.lan ", "http://gpu.lan:11434"],
];

for (const [given, url] of forms)
  test(`OLLAMA_HOST=${given} is ${url}`, () => assert.equal(ollamaAddressSchema.parse(given), url));

for (const given of ["ftp://gpu.lan", "gpu lan", "http://me@gpu.lan", "gpu.lan:99999", "http://gpu.lan?x"])
  test(`OLLAMA_HOST=${given} is refused`, () => assert.equal(ollamaAddressSchema.safeParse(given).success, false));

test("it is the address of Ollama's models that name none, and of no others", () => {
  const models = [
    { id: "a", provider: "ollama", model: "m" },
    { id: "b", provider: "ollama", model: "m", baseUrl: "http://other:1" },
    { id: "c", provider: "openai", model: "m" },
  ] as const;
  const urls = withOllamaAddress(models, "http://gpu.lan:11434").map((model) => "baseUrl" in model && model.baseUrl);
  assert.deepEqual(urls, ["http://gpu.lan:11434", "http://other:1", false]);
});
