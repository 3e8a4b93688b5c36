import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import OpenAI from "openai";
import type { ScriptAnswer } from "../src/models/demo/scripted.ts";
import type { ModelRequest } from "../src/protocol/agents/models.ts";
import { type AgentServing, serveAgents } from "./serve-agents.ts";

const sum = '{"sum": 5}';

/** Calls a tool, then answers in prose, then, if told that this is no JSON, as it should. */
function script({ messages }: ModelRequest): ScriptAnswer {
  const last = messages.at(-1)!;
  const asked = messages.some(({ content }) => content === "never right") ? "It is five." : sum;
  if (last.role === "tool") return [{ text: "It is " }, { text: `${last.content}.` }];
  if (messages.at(-2)?.role === "assistant") return asked;
  return [{ text: "Let me see. " }, { call: "calculate", arguments: { expression: "2+3" } }, { finish: "calls" }];
}

let server: AgentServing;
let openai: OpenAI;

before(async () => {
  server = await serveAgents(script);
  openai = new OpenAI({ baseURL: server.url + "/v1", apiKey: "none", maxRetries: 0 });
});
after(() => server.close());

function request(schema: Record<string, unknown>, content = "2+3?") {
  return {
    model: "assistant",
    messages: [{ role: "user" as const, content }],
    response_format: { type: "json_schema" as const, json_schema: { name: "sum", strict: true, schema } },
  };
}
const schema = {
  type: "object",
  properties: { sum: { type: "integer" } },
  required: ["sum"],
  additionalProperties: false,
};

test("an agent's answer has the format that was asked for", async () => {
  const completion = await openai.chat.completions.parse(request(schema));
  assert.equal(completion.choices[0]?.message.content, sum);
  assert.deepEqual(completion.choices[0]?.message.parsed, { sum: 5 });
});

test("a stream's text is the answer and nothing else", async () => {
  const pieces: string[] = [];
  const stream = openai.chat.completions.stream(request(schema)).on("content", (piece) => pieces.push(piece));
  const completion = await stream.finalChatCompletion();
  assert.equal(pieces.join(""), sum);
  assert.deepEqual(completion.choices[0]?.message.parsed, { sum: 5 });
});

test("the script of the page prints what it says", async () => {
  const root = join(import.meta.dirname, "..");
  const page = readFileSync(join(root, "docs/structured-output.md"), "utf8");
  const [, example = "", shown] = /```js\n(.*?)^```.*?```text\n(.*?)^```/ms.exec(page)!;
  const text = example.replaceAll("localhost:8000", new URL(server.url).host);
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", text], { cwd: root });
  assert.equal(stdout, shown);
});

test("json_object", async () => {
  const { choices } = await openai.chat.completions.create({
    ...request(schema),
    response_format: { type: "json_object" },
  });
  assert.equal(choices[0]?.message.content, sum);
});

test("an answer that can't be had is an error of the SDK's, streamed or whole", async () => {
  await assert.rejects(openai.chat.completions.create(request(schema, "never right")), (error) => {
    assert.ok(error instanceof OpenAI.UnprocessableEntityError);
    assert.equal(error.code, "format_invalid");
    assert.match(error.message, /the answer is not JSON/);
    return true;
  });
  const pieces: string[] = [];
  const stream = openai.chat.completions
    .stream(request(schema, "never right"))
    .on("content", (piece) => pieces.push(piece));
  await assert.rejects(stream.done(), OpenAI.APIError);
  assert.deepEqual(pieces, []);
});

test("a schema that can't be used is refused at once", async () => {
  await assert.rejects(openai.chat.completions.create(request({ type: "sum" })), (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.equal(error.code, "invalid_schema");
    assert.equal(error.param, "response_format");
    return true;
  });
});
