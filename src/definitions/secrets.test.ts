import assert from "node:assert/strict";
import { test } from "node:test";
import { shownDefinition, withSecrets } from "./secrets.ts";

const model = {
  provider: "openai",
  model: "m",
  baseUrl: "https://host.example/v1?tenant=t-secret",
  apiKey: "k-secret",
  headers: { "x-team": "h-secret" },
  options: { maxTokens: 5, extraBody: { access_token: "b-secret", stop: ["a"] } },
};
const server = {
  url: "https://u-secret@host.example/mcp",
  headers: { a: "h-secret" },
  auth: { type: "oauth", clientSecret: "c-secret" },
};
const program = { command: "npx", args: ["--token", "a-secret"], env: { PGPASSWORD: "e-secret" }, description: "Says" };

test("nothing secret is shown, and all else is", () => {
  const shown = shownDefinition("model", model);
  assert.deepEqual(shown.definition, {
    ...model,
    baseUrl: "https://host.example/v1?***",
    apiKey: "***",
    headers: { "x-team": "***" },
    options: { maxTokens: 5, extraBody: { access_token: "***", stop: ["a"] } },
  });
  assert.deepEqual(shown.secrets, ["baseUrl", "apiKey", "headers.x-team", "options.extraBody.access_token"]);
  for (const definition of [server, program]) {
    const text = JSON.stringify(shownDefinition("mcp-server", definition));
    assert.doesNotMatch(text, /-secret/);
  }
  const { definition } = shownDefinition("mcp-server", program);
  assert.deepEqual(
    [(definition as typeof program).command, (definition as typeof program).description],
    ["npx", "Says"],
  );
  const agent = { instructions: "Say *** to https://a.example/?q=1", settings: { maxTokens: 3 } };
  assert.deepEqual(shownDefinition("agent", agent), { definition: agent, secrets: [] });
  assert.deepEqual(withSecrets("agent", agent, undefined), { definition: agent, problems: [] });
});

test("what is sent back as it was shown stays as it is, and what is new counts", () => {
  const { definition: shown } = shownDefinition("model", model);
  assert.deepEqual(withSecrets("model", shown, model), { definition: model, problems: [] });
  const changed = { ...(shown as typeof model), apiKey: "another", model: "n" };
  assert.deepEqual(withSecrets("model", changed, model).definition, { ...model, apiKey: "another", model: "n" });
});

test("a secret that was kept goes nowhere else", () => {
  const shown = shownDefinition("model", model).definition as typeof model;
  const paths = (definition: object) => withSecrets("model", definition, model).problems.map(({ path }) => path);
  assert.deepEqual(paths({ ...shown, provider: "anthropic" }).length, 4);
  assert.deepEqual(paths({ provider: "openai", model: "m", baseUrl: "https://evil.example/v1", apiKey: "***" }), [
    "apiKey",
  ]);
  assert.deepEqual(paths({ provider: "openai", model: "m", apiKey: "***" }), ["apiKey"]);
  assert.deepEqual(paths({ provider: "openai", model: "m", baseUrl: "https://evil.example/v1", apiKey: "new" }), []);
  assert.deepEqual(paths({ ...shown, baseUrl: "https://host.example/v2", model: "n" }), [], "on the same host it may");
  const started = shownDefinition("mcp-server", program).definition as typeof program;
  const moved = withSecrets("mcp-server", { ...started, command: "env" }, program);
  assert.equal(moved.problems.length, 3);
  assert.match(withSecrets("model", shown, undefined).problems[0]!.message, /enter the secret/);
});
