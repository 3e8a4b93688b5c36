import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import { agentSchema } from "../src/protocol/agents/agents.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import { auto } from "../src/run/strategies/auto.ts";
import { chat } from "../src/run/strategies/chat.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

const root = join(import.meta.dirname, "..");

function block(page: string, language: string): string {
  const text = readFileSync(join(root, "docs", page), "utf8");
  return new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "ms").exec(text)![1]!;
}

function script({ messages }: ModelRequest): ScriptAnswer {
  const system = String(messages[0]!.content);
  if (system.startsWith("researcher")) return "Beans have been grown for 7000 years.";
  if (!system.startsWith("editor")) return "Fine.";
  return messages.at(-1)?.role === "tool"
    ? "Beans climb: they have been grown for 7000 years."
    : [{ call: "delegate", arguments: { agent: "researcher", task: "How old is growing beans?" } }];
}

let server: AgentServing;
before(async () => {
  const agent = { model: "default" };
  server = await serveAgents(
    script,
    {},
    {
      strategies: { auto, chat },
      agents: [
        agentSchema.parse({ ...agent, id: "auto", strategy: "auto", tools: ["*"] }),
        agentSchema.parse({ ...agent, id: "editor", instructions: "editor", agents: ["researcher"] }),
        agentSchema.parse({ ...agent, id: "researcher", instructions: "researcher" }),
      ],
    },
  );
});
after(() => server.close());

for (const page of ["auto.md", "delegation.md"])
  test(`the script of ${page} prints what it says`, async () => {
    const text = block(page, "js").replaceAll("localhost:8000", new URL(server.url).host);
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", text], { cwd: root });
    assert.equal(stdout, block(page, "text"));
  });
