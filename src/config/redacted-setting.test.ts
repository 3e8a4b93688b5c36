import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../test/pglite.ts";
import { redactedSetting } from "./redacted-setting.ts";
import { describeConfig, loadConfig } from "./load.ts";

test("of a webhook only its origin is shown, since its path is often its password", () => {
  const cwd = temporaryFolder("settings");
  const yaml = `webhooks:
  - name: chat
    url: https://hooks.example.com:8443/services/T000/B000/path-token?key=query-token
    secret: a-long-secret-token
    events: [done]
models:
  - id: near
    provider: openai
    model: m
    baseUrl: http://localhost:1234/v1
    apiKey: key-token
  - id: far
    provider: openai
    model: m
    baseUrl: https://example.com/v1?code=code-token
    apiKey: key-token
`;
  writeFileSync(join(cwd, "colloquy.yaml"), yaml);
  const lines = describeConfig(loadConfig({ env: {}, cwd })).map(
    ({ path, value }) => `${path} = ${redactedSetting(path, value)}`,
  );
  assert.doesNotMatch(lines.join("\n"), /-token/);
  assert(lines.includes("webhooks[0].url = https://hooks.example.com:8443/…"), lines.join("\n"));
  assert(lines.some((line) => line.endsWith("= http://localhost:1234/v1")));
});

test("what is no address is shown as it is", () => {
  assert.equal(redactedSetting("server.port", 8000), "8000");
  assert.equal(redactedSetting("data", "./data?x"), "./data?x");
  assert.equal(redactedSetting("webhooks[0].url", "http://[broken"), "…");
});
