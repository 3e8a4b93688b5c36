import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDefinition } from "./parse-definition.ts";
import { isRefusedHost } from "../egress/secret-hosts.ts";

const model = { provider: "openai", model: "m" };
const program = { command: "npx", args: ["server"] };

test("programs and packages need the operator's leave", () => {
  const problemsOf = (programs: boolean) =>
    [
      parseDefinition("mcp-server", { id: "a", definition: program }, { programs }),
      parseDefinition(
        "model",
        { id: "a", definition: { provider: "ai-sdk", model: "m", package: "p", export: "e" } },
        { programs },
      ),
    ].map((result) => (result.ok ? [] : result.problems.map(({ path }) => path)));
  assert.deepEqual(problemsOf(true), [[], []]);
  assert.deepEqual(problemsOf(false), [["command"], ["package"]]);
});

test("a key that was copied with more than itself is told of", () => {
  for (const apiKey of ["k\n", "sk-\u2026", "\u200bk"]) {
    const result = parseDefinition("model", { id: "a", definition: { ...model, apiKey } }, { programs: false });
    assert.deepEqual(result.ok ? [] : result.problems.map(({ path }) => path), ["apiKey"]);
  }
});

test("where clouds keep a machine's secrets nothing is asked, however it is written", () => {
  const hosts = [
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "[::ffff:169.254.169.254]",
    "[fe80::1]",
    "metadata.google.internal",
  ];
  for (const host of hosts) {
    assert.ok(isRefusedHost(`http://${host}/v1`), host);
    const result = parseDefinition(
      "mcp-server",
      { id: "a", definition: { url: `http://${host}/` } },
      { programs: true },
    );
    assert.deepEqual(result.ok ? [] : result.problems.map(({ path }) => path), ["url"]);
  }
  for (const host of ["localhost:11434", "127.0.0.1", "10.0.0.7", "gpu.lan", "[::1]", "api.example"])
    assert.ok(!isRefusedHost(`http://${host}/v1`), host);
});
