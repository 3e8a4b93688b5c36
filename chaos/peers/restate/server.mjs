import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as restate from "@restatedev/restate-sdk";
import { askModel } from "./model.mjs";
import { serve } from "./serve.mjs";
import { callTool } from "./tools.mjs";
import { portsOf } from "./ports.mjs";

// As its documentation tells: a workflow whose key is the run's id, every call of the model and of a tool in `ctx.run`, retried by the
// server; a key for an address that honours one from `ctx.rand.uuidv4()`, which is the same when the journal is replayed.
const agent = restate.workflow({
  name: "agent",
  handlers: {
    async run(ctx, message) {
      const messages = [{ role: "user", content: message }];
      for (;;) {
        const answer = await ctx.run("model", () => askModel(messages), { maxRetryInterval: 1000 });
        messages.push(answer);
        if (!answer.tool_calls?.length) return answer.content;
        for (const { id, function: call } of answer.tool_calls) {
          const { effect } = JSON.parse(call.arguments);
          const key = ctx.rand.uuidv4();
          const tries = call.name === "send_plain" ? { maxRetryAttempts: 1 } : { maxRetryAttempts: 5 };
          let content;
          try {
            content = await ctx.run(call.name, () => callTool(call.name, effect, key), tries);
          } catch (error) {
            if (!(error instanceof restate.TerminalError)) throw error;
            content = `Error: ${error.message}`;
          }
          messages.push({ role: "tool", tool_call_id: id, content });
        }
      }
    },
  },
});

const { service, ingress, admin, node } = await portsOf(process.env.DATA);
await restate.serve({ services: [agent], port: service });
startServer();
const url = `http://127.0.0.1:${ingress}`;
for (;;) {
  const response = await fetch(`http://127.0.0.1:${admin}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri: `http://127.0.0.1:${service}`, force: true }),
  }).catch(() => undefined);
  if (response?.ok) break;
  await sleep(100);
}

/** Its own server beside us, in our group of processes; it ends with us. */
function startServer() {
  const data = join(process.env.DATA, "restate");
  mkdirSync(data, { recursive: true });
  const script = '"$@" </dev/null & server=$!; read -r _; kill -9 $server';
  const binary = join(import.meta.dirname, "node_modules", ".bin", "restate-server");
  spawn("/bin/sh", ["-c", script, "sh", binary, "--base-dir", data, "--node-name", "one", "--bind-ip", "127.0.0.1"], {
    stdio: ["pipe", "inherit", "inherit"],
    env: {
      ...process.env,
      RESTATE_BIND_PORT: String(node),
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_LISTEN_MODE: "tcp",
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_LOG_FILTER: "warn",
    },
  });
}

serve({
  async accept(id, message) {
    const response = await fetch(`${url}/agent/${id}/run/send`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(message),
    });
    // 409: there is one already.
    if (!response.ok && response.status !== 409) throw new Error(`restate answered ${response.status}`);
  },
  async look(id) {
    const response = await fetch(`${url}/restate/workflow/agent/${id}/output`);
    if (response.status === 404) return undefined;
    if (response.status === 470) return { status: "running" };
    const text = await response.text();
    if (response.ok) return { status: "done", answer: JSON.parse(text) };
    return { status: "failed", error: `${response.status} ${text}` };
  },
});
