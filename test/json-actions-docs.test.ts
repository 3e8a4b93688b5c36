import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { jsonActions } from "../src/run/strategies/json-actions.ts";
import { fileTools, orchestratorTeam, written } from "./json-actions.ts";
import { serveAgents } from "./serve-agents.ts";

const page = readFileSync(join(import.meta.dirname, "../docs/json-actions.md"), "utf8");
const block = (language: string) => new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "ms").exec(page)![1]!;

const code = "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)";
const script = [
  written({
    thought: "code is for the coder",
    action: "delegate",
    target_agent: "coder",
    args: { task: "Write fib(n) in Python and test it." },
  }),
  written({ thought: "test it", action: "use_tool", tool: "run_python", args: { code } }),
  written({ thought: "it works", action: "final", answer: code }),
];
const team = await orchestratorTeam("default");
const server = await serveAgents(
  script,
  {},
  {
    agents: [team.orchestrator, ...team.others],
    strategies: { "json-actions": jsonActions },
    tools: fileTools({}).tools,
  },
);
after(() => server.close());

test("the request of json-actions.md is answered as it says", async () => {
  const request = block("sh").replace("localhost:8000", new URL(server.url).host);
  const { stdout } = await promisify(execFile)("sh", ["-c", request]);
  assert.deepEqual(JSON.parse(stdout), JSON.parse(block("json")));
});
