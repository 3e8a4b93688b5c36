import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";
import { z } from "zod";
import { colloquySurface } from "../src/http/mcp/mcp-routes.ts";
import { mcpRoutes } from "../src/http/mcp/mcp-endpoint.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import { textOf } from "../src/protocol/threads/items.ts";
import { defineTool } from "../src/tools/core/define-tool.ts";
import { connectMcp, type Era, eras, modernCall, textIn } from "./mcp-client.ts";
import { serve } from "./serve.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

const key = "colloquy/idempotencyKey";

/** Counts what the user said; "task …" adds a task, which a person must allow. */
function script({ messages }: ModelRequest): ScriptAnswer {
  const said = messages.filter(({ role }) => role === "user").map(({ content }) => textOf(content as string));
  const last = said.at(-1)!;
  if (messages.at(-1)!.role === "tool") return `Result: ${String(messages.at(-1)!.content)}`;
  if (last.startsWith("task ")) return [{ call: "add_task", arguments: { title: last.slice(5) } }, { finish: "calls" }];
  return `${said.length} so far, last ${last}`;
}

let posted = 0;
const post = defineTool({
  name: "post",
  description: "Posts a letter.",
  input: z.object({ text: z.string() }),
  effect: "write",
  destructive: true,
  execute: ({ text }) => {
    posted += 1;
    return { text, posted };
  },
});
let stopped: unknown;
const slow = defineTool({
  name: "slow",
  description: "Tells how far it is, until it is stopped.",
  input: z.object({}),
  effect: "read",
  async execute(_input, { signal, progress }) {
    for (let count = 1; !signal.aborted; count++) {
      progress(`step ${count}`);
      await sleep(20);
    }
    stopped = signal.reason;
    throw signal.reason;
  },
});
const picture = defineTool({
  name: "picture",
  description: "Makes a picture.",
  input: z.object({}),
  effect: "read",
  execute: () => ({
    content: "A picture.",
    data: { media: [{ type: "image", mimeType: "image/png", data: "aGk=" }], structuredContent: { width: 1 } },
  }),
});
const ask = defineTool({
  name: "ask_size",
  description: "Asks how large.",
  input: z.object({}),
  effect: "read",
  execute: (_input, { answers }) =>
    answers[0]
      ? { content: `Size ${answers[0].text}` }
      : { content: "", ask: { text: "How large?", choices: ["S", "L"] } },
});

let backend: AgentServing;
before(async () => {
  const tools = [post, slow, picture, ask];
  backend = await serveAgents(script, {}, { tools, approval: { ask: ["add_task"] }, limits: { repeatedCall: 0 } });
});
after(() => backend.close());

/** A test for each era, with a client connected as the owner. */
function inBothEras(
  name: string,
  body: (client: Client, era: Era) => Promise<void>,
  options: Omit<Parameters<typeof connectMcp>[1], "era"> = {},
): void {
  for (const era of eras)
    test(`${name} (${era})`, async () => {
      const client = await connectMcp(`${backend.url}/mcp`, { era, ...options });
      try {
        await body(client, era);
      } finally {
        await client.close();
      }
    });
}

const runs = async (tool: string) => {
  const all = await backend.runs.list(backend.caller, { limit: 200 });
  return all.filter(({ agent }) => agent === `tool:${tool}`);
};

inBothEras("tools are listed in order, with what is known of their effects", async (client) => {
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  assert.deepEqual(names, names.toSorted());
  for (const name of ["add_task", "ask_assistant", "calculate", "post", "run_result"])
    assert.ok(names.includes(name), name);
  const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
  assert.deepEqual(hints["list_tasks"], {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  });
  assert.equal(hints["post"]!.destructiveHint, true);
  assert.equal(tools.find(({ name }) => name === "calculate")!.inputSchema.type, "object");
});

inBothEras("a call is a run with its result as text and as a value", async (client) => {
  const result = await client.callTool({ name: "calculate", arguments: { expression: "6*7" } });
  assert.equal(textIn(result), "42");
  assert.ok(!result.isError);
  const picture = await client.callTool({ name: "picture", arguments: {} });
  assert.deepEqual(picture.content, [
    { type: "text", text: "A picture." },
    { type: "image", mimeType: "image/png", data: "aGk=" },
  ]);
  assert.deepEqual(picture.structuredContent, { width: 1 });
  assert.equal(
    (await runs("calculate")).every(({ status }) => status === "done"),
    true,
  );
});

inBothEras("wrong arguments are a result that a model can mend, an unknown tool is an error", async (client) => {
  const result = await client.callTool({ name: "calculate", arguments: { expresion: "1" } });
  assert.equal(result.isError, true);
  assert.match(textIn(result), /expression/);
  await assert.rejects(client.callTool({ name: "nothing_such", arguments: {} }), { code: -32602 });
});

inBothEras("progress reaches the client, and a call that it takes back stops its run", async (client) => {
  const before = (await runs("slow")).length;
  stopped = undefined;
  const control = new AbortController();
  const told: string[] = [];
  const call = client.callTool(
    { name: "slow", arguments: {} },
    {
      signal: control.signal,
      onprogress({ message }) {
        told.push(message!);
        if (told.length === 3) control.abort();
      },
    },
  );
  await assert.rejects(call);
  while (stopped === undefined) await sleep(10);
  for (;;) {
    const all = await runs("slow");
    assert.equal(all.length, before + 1);
    if (all[0]!.status === "cancelled") break;
    await sleep(10);
  }
  assert.equal(told.length >= 3 && told.every((text) => text.startsWith("step ")), true);
});

inBothEras("a call with the same key is done once", async (client, era) => {
  const before = posted;
  const call = { name: "post", arguments: { text: era }, _meta: { [key]: `post ${era}` } };
  const [first, second] = await withDecision(client, call);
  assert.deepEqual(second, first);
  assert.equal(posted, before + 1);
  const other = await client.callTool({ ...call, arguments: { text: "other" } });
  assert.equal(other.isError, true);
  assert.match(textIn(other), /key/i);
});

/** Calls what must be allowed, allows it, and calls it again with the same key. */
async function withDecision(client: Client, call: Parameters<Client["callTool"]>[0]) {
  const asked = await client.callTool(call);
  assert.equal(asked.isError, true);
  assert.match(textIn(asked), /waits for a person[^]*post \{"text"/);
  const [question] = await backend.approvals.questions(backend.caller);
  await backend.approvals.decide(backend.caller, question!.runId!, {
    questionId: question!.id,
    input: { decision: "allow" },
  });
  const first = await client.callTool({ name: "run_result", arguments: { run: question!.runId! } });
  assert.ok(!first.isError);
  return [first.structuredContent, (await client.callTool(call)).structuredContent] as const;
}

test("a client that can ask its person is asked, and the call goes on with the answer", async () => {
  const messages: string[] = [];
  let action: "accept" | "decline" = "accept";
  const client = await connectMcp(`${backend.url}/mcp`, {
    era: "2026-07-28",
    capabilities: { elicitation: { form: {} } },
  });
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    messages.push(params.message);
    if (action === "decline") return { action };
    const content: Record<string, string> = params.message.startsWith("How large?")
      ? { answer: "L" }
      : { decision: "allow" };
    return { action, content };
  });
  const before = posted;
  const done = await client.callTool({ name: "post", arguments: { text: "asked" } });
  assert.deepEqual(done.structuredContent, { text: "asked", posted: before + 1 });
  assert.match(messages[0]!, /post \{"text":"asked"\}/);
  assert.match(textIn(await client.callTool({ name: "ask_size", arguments: {} })), /Size L/);
  const answer = await client.callTool({ name: "ask_assistant", arguments: { message: "task water" } });
  assert.match(textIn(answer), /Result: .*water/);

  action = "decline";
  const denied = await client.callTool({ name: "post", arguments: { text: "no" } });
  assert.equal(denied.isError, true);
  assert.equal(posted, before + 1);
  await client.close();
});

inBothEras("an agent is a tool, and its thread goes on", async (client) => {
  const first = await client.callTool({ name: "ask_assistant", arguments: { message: "hello" } });
  const { answer, thread, run } = first.structuredContent as { answer: string; thread: string; run: string };
  assert.equal(answer, "1 so far, last hello");
  assert.equal(textIn(first), answer);
  const second = await client.callTool({ name: "ask_assistant", arguments: { message: "more", thread } });
  assert.equal(textIn(second), "2 so far, last more");
  const again = await client.callTool({ name: "run_result", arguments: { run } });
  assert.equal(textIn(again), answer);
});

inBothEras("threads are resources, agents and threads are prompts", async (client) => {
  const asked = await client.callTool({ name: "ask_assistant", arguments: { message: "remember" } });
  const { thread } = asked.structuredContent as { thread: string };
  const uri = `colloquy://threads/${thread}`;
  const { resources } = await client.listResources();
  assert.ok(resources.some((resource) => resource.uri === uri));
  const [text] = (await client.readResource({ uri })).contents;
  assert.match((text as { text: string }).text, /\*\*owner\*\*: remember\n\n\*\*assistant\*\*: 1 so far/);
  const [items] = (await client.readResource({ uri: `${uri}/items` })).contents;
  assert.ok(JSON.parse((items as { text: string }).text).items.length >= 2);
  await assert.rejects(client.readResource({ uri: "colloquy://threads/018f0000-0000-7000-8000-00000000dead" }), {
    code: -32602,
  });

  const { prompts } = await client.listPrompts();
  assert.deepEqual(
    prompts.map(({ name }) => name),
    ["ask_analysis", "ask_assistant", "thread"],
  );
  assert.doesNotMatch(JSON.stringify(prompts), /SECRET-INSTRUCTIONS/);
  const prompt = await client.getPrompt({ name: "thread", arguments: { id: thread, message: "Sum it up." } });
  assert.match(JSON.stringify(prompt.messages), /remember.*Sum it up\./);
  await assert.rejects(client.getPrompt({ name: "thread", arguments: {} }), { code: -32602 });
  const { completion } = await client.complete({
    ref: { type: "ref/prompt", name: "thread" },
    argument: { name: "id", value: thread.slice(0, 30) },
  });
  assert.ok(completion.values.includes(thread));
});

test("an answer that is long in coming becomes a stream, and a stop of the server ends it with a word", async () => {
  const routes = mcpRoutes({
    needs: "ask",
    path: "/mcp/slow",
    summary: "",
    description: "",
    surface: ({ services, caller }) => colloquySurface(services, caller),
    silenceMs: 20,
  });
  const serving = await serve(backend.services, 0, routes);
  const response = await modernCall(`${serving.url}/mcp/slow`, "tools/call", { name: "slow", arguments: {} });
  assert.match(response.headers.get("content-type")!, /^text\/event-stream/);
  const before = (await runs("slow")).length;
  await serving.close();
  assert.match(await response.text(), /"id":1,"error":\{"code":-32000,"message":"The server is stopping/);
  // The stop takes nothing back.
  const [run] = await runs("slow");
  assert.ok((await runs("slow")).length >= before);
  assert.ok(["queued", "running"].includes(run!.status), run!.status);
  await backend.runs.cancel(backend.caller, run!.id);
});

test("in the older protocol a connection that breaks stops nothing", async () => {
  const control = new AbortController();
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "slow", arguments: {} } };
  const response = await fetch(`${backend.url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ ...body, params: { ...body.params, _meta: { progressToken: 1 } } }),
    signal: control.signal,
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; !text.includes("step 1"); text += (await reader.read()).value ?? "");
  control.abort();
  const [run] = await runs("slow");
  // Answered after the connection was seen to break.
  await (await fetch(`${backend.url}/health`)).text();
  assert.equal((await backend.runs.get(backend.caller, run!.id)).status, "running");
  await backend.runs.cancel(backend.caller, run!.id);
});
