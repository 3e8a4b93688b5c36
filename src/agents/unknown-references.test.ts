import assert from "node:assert/strict";
import { test } from "node:test";
import { agentSchema } from "../protocol/agents/agents.ts";
import { missingTools, unknownReferences } from "./unknown-references.ts";

const known = {
  agents: ["coder", "helper"],
  strategies: ["chat", "react", "tools"],
  tools: ["now", "delete_task"],
  toolPrefixes: ["files_"],
  hasModel: (name: string) => name === "default",
};

test("tools named exactly must be there; globs may fit none, and those of MCP servers come later", () => {
  const tools = ["now", "read_file", "mcp_*", "!delete_*", "!now", "!delte_task", "Now", "files_read"];
  assert.deepEqual(missingTools({ tools }, known), ["read_file", "!delte_task", "Now"]);
  assert.deepEqual(missingTools({ tools: ["*"] }, { tools: [], toolPrefixes: [""] }), []);
});

test("whatever an agent names and is not there is told, with what is near", () => {
  const agent = { id: "helper", model: "gpt-99", strategy: "reakt", agents: ["codr", "c*"], tools: ["nwo", "now"] };
  assert.deepEqual(unknownReferences(agentSchema.parse(agent), known), [
    'agent helper: model "gpt-99" not found.',
    'agent helper: strategy "reakt" not found. Did you mean react?',
    'agent helper: agent "codr" not found. Did you mean coder?',
    'agent helper: tool "nwo" not found. Did you mean now?',
  ]);
  assert.deepEqual(
    unknownReferences(agentSchema.parse({ id: "helper", tools: ["now"], agents: ["coder"] }), known),
    [],
  );
});
