import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { loadAgents } from "../src/agents/load.ts";
import { loadPrompts } from "../src/agents/load-prompts.ts";
import { fillPrompt } from "../src/agents/prompt-placeholders.ts";
import { z } from "zod";
import { loadConfig } from "../src/config/load.ts";
import { webToolsOf } from "../src/app/web-tools.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import type { Item } from "../src/protocol/threads/items.ts";
import { defineTool } from "../src/tools/core/define-tool.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";
import { type SearchServer, startSearchServer } from "./search-servers.ts";

const root = join(import.meta.dirname, "..");
const found = [
  { title: "Marañón", url: "https://a.example/m", content: "The Marañón is 1,737 km long.", score: 0.9 },
  { title: "Ucayali", url: "https://b.example/u", content: "The Ucayali is 1,771 km long.", score: 0.8 },
];

const lastOf = ({ messages }: ModelRequest) => {
  const { content } = messages.at(-1)!;
  return typeof content === "string" ? content : "";
};

/** Answers as a model would: from pages, and by each strategy's own protocol. */
function script(request: ModelRequest) {
  const last = lastOf(request);
  if (last.startsWith("Answer a question from pages")) return "The Ucayali, with 1,771 km [2].";
  const whole = JSON.stringify(request.messages);
  const isDone = whole.includes("The Ucayali, with 1,771 km [2]");
  if (whole.includes("Action Input: what the tool is given")) {
    if (last.includes("final_answer")) return "final_answer: true\nObservation: The Ucayali is the longest.";
    return isDone
      ? "It is the Ucayali."
      : "Thought: I look it up.\nAction: websearch\nAction Input: longest river of Peru";
  }
  return JSON.stringify(
    isDone
      ? { thought: "known", action: "final", tool: null, target_agent: null, args: {}, answer: "It is the Ucayali." }
      : { action: "use_tool", tool: "websearch", args: { query: "longest river of Peru" }, answer: "" },
  );
}

const fax = defineTool({
  name: "fax",
  description: "Sends a fax.",
  input: z.object({}),
  effect: "write",
  sendsOut: true,
  unavailable: "No fax is set up: buy one.",
  execute: () => "sent",
});

let tavily: SearchServer;
let server: AgentServing;
before(async () => {
  tavily = await startSearchServer("tavily");
  tavily.found = found;
  const { prompts } = await loadPrompts({});
  const prompt = async (values: Readonly<Record<string, string>>) =>
    fillPrompt(prompts.get("websearch_answer"), values);
  const env = {
    TAVILY_API_KEY: "tvly-right",
    COLLOQUY_WEBSEARCH__TAVILY__BASE_URL: tavily.url,
    COLLOQUY_WEBSEARCH__CACHE_MINUTES: "0",
  };
  const { agents } = await loadAgents({});
  server = await serveAgents(
    script,
    {},
    {
      tools: [...webToolsOf(loadConfig({ env, cwd: "/" }), prompt), fax],
      agents: ["react", "researcher"].map((id) => agents.get(id)),
    },
  );
});
after(async () => {
  await server.close();
  await tavily.close();
});

async function ask<Answer>(path: string, body?: object): Promise<{ readonly status: number; readonly json: Answer }> {
  const response = await fetch(server.url + path, {
    ...(body ? { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, json: (await response.json()) as Answer };
}

for (const agent of ["react", "researcher"])
  test(`${agent} searches by itself; the log has the sources, the mark and the step that answered`, async () => {
    tavily.requests.length = 0;
    const { json } = await ask<{ choices: { message: { content: string } }[] }>("/v1/chat/completions", {
      model: agent,
      session_id: `rivers-${agent}`,
      messages: [{ role: "user", content: "Which river of Peru is the longest?" }],
    });
    assert.match(json.choices[0]!.message.content, /It is the Ucayali/);
    assert.equal((tavily.requests[0]!.body as { query: string }).query, "longest river of Peru");
    const threads = await ask<{ data: { id: string; agent: string }[] }>("/api/threads");
    const { id } = threads.json.data.find((thread) => thread.agent === agent)!;
    const { data: items } = (await ask<{ data: Item[] }>(`/api/threads/${id}/items`)).json;
    const result = items.find((item) => item.kind === "result")!;
    assert.equal(result.body.untrusted, true);
    assert.deepEqual(
      result.body.sources?.map(({ kind, url }) => [kind, url]),
      [
        ["web", "https://a.example/m"],
        ["web", "https://b.example/u"],
      ],
    );
    assert.match(result.body.content, /^The Ucayali, with 1,771 km \[2\]\.\n\nSources:\n\[1\] Marañón/);
    const step = items.find((item) => item.step === `${result.step}.${result.index}/1`);
    assert.equal(step?.kind === "message" && step.body.content, "The Ucayali, with 1,771 km [2].");
  });

test("what can't be used here is listed with what to do, offered to nobody, and refused with the same words", async () => {
  type List = { answer: string; data: { name: string; unavailable?: string; bringsIn?: true }[] };
  const { answer, data } = (await ask<List>("/api/tools/list")).json;
  const known = Object.fromEntries(data.map(({ name, unavailable, bringsIn }) => [name, [unavailable, bringsIn]]));
  assert.deepEqual(known["fax"], ["No fax is set up: buy one.", undefined]);
  assert.deepEqual(known["websearch"], [undefined, true]);
  assert.doesNotMatch(answer, /fax/);
  const called = await ask<{ error: { code: string; message: string } }>("/api/tools/fax", {});
  assert.deepEqual([called.status, called.json.error.code], [503, "tool_unavailable"]);
  assert.match(called.json.error.message, /buy one/);
  assert.ok(server.model.requests.every(({ tools = [] }) => tools.every(({ name }) => name !== "fax")));
});

test("the example of docs/websearch.md prints what is found", async () => {
  const [, example = ""] = /^```js\n(.*?)^```$/ms.exec(readFileSync(join(root, "docs", "websearch.md"), "utf8")) ?? [];
  const text = example.replaceAll("localhost:8000", new URL(server.url).host);
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", text], { cwd: root });
  assert.equal(stdout, "Marañón https://a.example/m\nUcayali https://b.example/u\n");
});
