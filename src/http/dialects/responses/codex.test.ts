import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AgentServing, serveAgents } from "../../../../test/serve-agents.ts";
import type { ScriptAnswer } from "../../../models/demo/scripted.ts";
import type { ModelRequest } from "../../../protocol/agents/models.ts";

/** Calls the tool that the last message names, once. */
function script({ messages, tools }: ModelRequest): ScriptAnswer {
  const last = messages.at(-1)!;
  if (last.role === "tool") return `It printed ${last.content}`;
  const name = tools?.find((tool) => JSON.stringify(last.content).includes(tool.name))?.name;
  if (name === undefined) return JSON.stringify(tools?.map((tool) => tool.name));
  const written = name === "code__exec" ? { input: "ls -l" } : { cmd: "ls" };
  return [{ call: name, arguments: written }, { finish: "calls" }];
}

let server: AgentServing;
before(async () => {
  server = await serveAgents(script);
});
after(() => server.close());

type CodexItem = {
  readonly type: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly arguments?: string;
  readonly input?: string;
  readonly content?: readonly { readonly text: string }[];
};

/** As Codex asks: the whole conversation each time, and it runs what is done. */
async function ask(model: string, input: readonly object[], more: object) {
  const response = await fetch(server.url + "/v1/responses", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream", originator: "codex_exec" },
    body: JSON.stringify({
      model,
      input,
      store: false,
      stream: true,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "01a2",
      tool_choice: "auto",
      client_metadata: { turn: "1" },
      ...more,
    }),
  });
  const events = (await response.text())
    .split("\n\n")
    .flatMap((event) => event.split("\n").filter((line) => line.startsWith("data: ")))
    .map((line) => JSON.parse(line.slice(6)) as { readonly type: string; readonly item?: CodexItem });
  assert.equal(events.at(-1)?.type, "response.completed", JSON.stringify(events.at(-1)));
  const items = events.flatMap(({ type, item }) => (type === "response.output_item.done" && item ? [item] : []));
  return { items, leftOut: response.headers.get("x-colloquy-left-out") };
}

const said = (id: string, role: string, text: string) => ({
  type: "message",
  id,
  role,
  content: [{ type: "input_text", text }],
});
const begun = (text: string) => [
  said("msg_1", "developer", "You are a coding agent."),
  said("msg_2", "user", "<environment_context>"),
  said("msg_3", "user", text),
];
const command = { type: "object", properties: { cmd: { type: "string" } }, required: ["cmd"] };

for (const model of ["script", "assistant"]) {
  test(`${model}: a model whose name Codex does not know gets functions and namespaces`, async () => {
    const tools = [
      { type: "function", name: "exec_command", description: "Runs", strict: false, parameters: command },
      {
        type: "namespace",
        name: "mcp__m",
        description: "A server",
        tools: [{ type: "function", name: "add_item", strict: false, parameters: command }],
      },
      { type: "web_search", external_web_access: true },
    ];
    const more = { tools, parallel_tool_calls: true, reasoning: { summary: "auto" } };
    const first = await ask(model, begun("use exec_command"), more);
    assert.equal(first.leftOut, "web_search");
    const call = first.items.find((item) => item.type === "function_call")!;
    assert.deepEqual([call.name, call.namespace, call.arguments], ["exec_command", undefined, '{"cmd":"ls"}']);
    const output = { type: "function_call_output", id: "fco_1", call_id: call.call_id, output: "a.txt" };
    const second = await ask(model, [...begun("use exec_command"), ...first.items, output], more);
    assert.equal(second.items.at(-1)?.content?.[0]?.text, "It printed a.txt");

    const inner = (await ask(model, begun("use mcp__m__add_item"), more)).items.at(-1)!;
    assert.deepEqual([inner.name, inner.namespace], ["add_item", "mcp__m"]);
    const parts = [{ type: "input_text", text: "added" }];
    const result = { type: "function_call_output", call_id: inner.call_id, output: parts };
    const last = await ask(model, [...begun("use mcp__m__add_item"), inner, result], more);
    assert.equal(last.items.at(-1)?.content?.[0]?.text, "It printed added");
  });

  test(`${model}: one that it knows gets its tools as an item, and one of free text`, async () => {
    const exec = {
      type: "custom",
      name: "exec",
      description: "Runs code",
      format: { type: "grammar", syntax: "lark", definition: "start: /.+/" },
    };
    const tools = {
      type: "additional_tools",
      id: "at_1",
      role: "developer",
      tools: [{ type: "namespace", name: "code", tools: [exec] }],
    };
    const more = { parallel_tool_calls: false, reasoning: { effort: "medium" }, text: { verbosity: "low" } };
    const input = [tools, ...begun("use code__exec")];
    const first = await ask(model, input, more);
    const call = first.items.at(-1)!;
    assert.deepEqual([call.type, call.name, call.namespace, call.input], ["custom_tool_call", "exec", "code", "ls -l"]);
    const output = { type: "custom_tool_call_output", call_id: call.call_id, output: parts("a.txt") };
    const second = await ask(model, [...input, ...first.items, output], more);
    assert.equal(second.items.at(-1)?.content?.[0]?.text, "It printed a.txt");
    const asked = server.model.requests.findLast(({ messages }) => messages.at(-1)?.role === "tool")!;
    assert.match(asked.tools!.find(({ name }) => name === "code__exec")!.description, /lark grammar:\nstart/);
  });
}

function parts(text: string) {
  return [{ type: "input_text", text }];
}
