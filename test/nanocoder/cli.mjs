// A small coding agent with nanocoder's settings, options, wire and report: reads a task, asks its model what to do, does it.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const { NANOCODER_CONFIG_DIR: settings, NANOCODER_MAX_TURNS: turns } = process.env;
const { providers } = JSON.parse(readFileSync(join(settings, "agents.config.json"), "utf8")).nanocoder;
const options = process.argv.slice(2);
const provider = providers.find(({ name }) => name === options[options.indexOf("--provider") + 1]);
const key = provider.apiKey.replace(/^\$(\w+)$/, (_, name) => process.env[name]);
const parameters = { type: "object", properties: {} };
const tools = ["write_file", "execute_bash"].map((name) => ({ type: "function", function: { name, parameters } }));

const toolCalls = [];
const filesChanged = [];
const own = {
  write_file({ path, content }) {
    writeFileSync(path, content);
    filesChanged.push(path);
    return `wrote ${path}`;
  },
  execute_bash: ({ command }) => execFileSync("bash", ["-c", command], { encoding: "utf8" }),
};

async function ask(messages) {
  const response = await fetch(`${provider.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: provider.models[0], messages, tools, tool_choice: "auto", stream: true }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(JSON.parse(text).error.message);
  const message = { role: "assistant", content: "", tool_calls: [] };
  for (const event of text.split("\n\n")) {
    if (!event.startsWith("data: {")) continue;
    const delta = JSON.parse(event.slice(6)).choices[0]?.delta ?? {};
    message.content += delta.content ?? "";
    for (const part of delta.tool_calls ?? []) {
      const call = (message.tool_calls[part.index] ??= {
        id: "",
        type: "function",
        function: { name: "", arguments: "" },
      });
      call.id += part.id ?? "";
      call.function.name += part.function.name ?? "";
      call.function.arguments += part.function.arguments ?? "";
    }
  }
  if (message.tool_calls.length === 0) delete message.tool_calls;
  return message;
}

async function work(task) {
  const messages = [{ role: "user", content: task }];
  for (let turn = 0; turn < Number(turns); turn++) {
    const answer = await ask(messages);
    messages.push(answer);
    if (!answer.tool_calls) return answer.content;
    for (const { id, function: call } of answer.tool_calls) {
      const given = JSON.parse(call.arguments);
      const result = own[call.name](given);
      toolCalls.push({ name: call.name, arguments: given, result });
      messages.push({ role: "tool", tool_call_id: id, content: result });
    }
  }
  throw new Error("Too many turns.");
}

mkdirSync(".nanocoder", { recursive: true });
process.stderr.write("small coder\n");
let report;
try {
  report = { kind: "success", exitCode: 0, finalText: await work(options.at(-1)) };
} catch (error) {
  report = { kind: "error", exitCode: 1, finalText: "", message: error.message };
}
process.stdout.write(JSON.stringify({ ...report, toolCalls, filesChanged }));
process.exitCode = report.exitCode;
