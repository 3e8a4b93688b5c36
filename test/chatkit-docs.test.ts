import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import { skipCurl } from "./left-out.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/chatkit.md"), "utf8");
const block = (language: string) => new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "ms").exec(page)![1]!;

function script({ messages }: ModelRequest): ScriptAnswer {
  if (messages.at(-1)?.role === "tool") return "It is on your list.";
  return [{ call: "add_task", arguments: { title: "buy milk" } }];
}

let server: AgentServing;
before(async () => {
  server = await serveAgents(script);
});
after(() => server.close());

const here = (text: string) => text.replaceAll("localhost:8000", new URL(server.url).host);

test("the script of chatkit.md prints what it says", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", here(block("js"))]);
  assert.equal(stdout, block("text"));
});

test(
  "the command of chatkit.md answers with message events, and its conversation can be read",
  { skip: skipCurl },
  async () => {
    const { stdout } = await promisify(execFile)("sh", ["-c", here(block("sh")).replace("curl ", "curl -s ")]);
    assert.match(
      stdout,
      /^data: \{"type":"message_delta","content":"It is on your list\."\}\n\ndata: \{"type":"message_complete"/,
    );
    const path = /GET (\/chatkit\/\S+?)`/.exec(page)![1]!;
    const { data } = (await (await fetch(server.url + path)).json()) as { data: readonly object[] };
    assert.equal(data.length, 4);
  },
);
