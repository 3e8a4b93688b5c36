import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { loadConfig } from "../src/config/load.ts";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import { temporaryFolder } from "./pglite.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

const root = join(import.meta.dirname, "..");

function blocks(page: string, language: string): string[] {
  const text = readFileSync(join(root, "docs", page), "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map((match) => match[1]!);
}

function script({ messages }: ModelRequest): ScriptAnswer {
  if (messages.at(-1)?.role === "tool") return "It is on your list.";
  return [{ call: "now", arguments: {} }, { finish: "calls" }];
}

let server: AgentServing;
before(async () => {
  server = await serveAgents(script, {}, { approval: { ask: ["add_task"] } });
});
after(() => server.close());

for (const page of ["approval.md", "limits.md"])
  test(`the script of ${page} prints what it says`, async () => {
    const [example, shown] = [blocks(page, "js")[0]!, blocks(page, "text")[0]!];
    const text = example.replaceAll("localhost:8000", new URL(server.url).host);
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", text], { cwd: root });
    assert.equal(stdout, shown);
  });

test("the policy of approval.md is a valid config", () => {
  const cwd = temporaryFolder("docs");
  writeFileSync(join(cwd, "colloquy.yaml"), blocks("approval.md", "yaml")[0]!);
  const { approval } = loadConfig({ env: {}, cwd });
  assert.deepEqual(approval.askAlways, ["pay_invoice"]);
  assert.deepEqual(Object.keys(approval.users ?? {}), ["guest"]);
});
