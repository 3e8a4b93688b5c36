import { DBOS } from "@dbos-inc/dbos-sdk";
import { askModel } from "./model.mjs";
import { serve } from "./serve.mjs";
import { callTool } from "./tools.mjs";

// As its documentation tells: a workflow of steps, its id the run's, recovered by `DBOS.launch`; steps with retries where they may be
// repeated; as key for an address that honours one, the workflow's id and the step's.
const modelRetries = { retriesAllowed: true, maxAttempts: 20, intervalSeconds: 0.5, backoffRate: 1.3 };
const toolRetries = { retriesAllowed: true, maxAttempts: 5, intervalSeconds: 0.2 };

async function agent(message) {
  const messages = [{ role: "user", content: message }];
  for (;;) {
    const answer = await DBOS.runStep(() => speak(messages), { name: "model", ...modelRetries });
    messages.push(answer);
    if (!answer.tool_calls?.length) {
      await DBOS.closeStream("text");
      return answer.content;
    }
    for (const { id, function: call } of answer.tool_calls) {
      const { effect } = JSON.parse(call.arguments);
      const act = () => callTool(call.name, effect, `${DBOS.workflowID}-${DBOS.stepID}`);
      const content = await DBOS.runStep(act, {
        name: call.name,
        ...(call.name === "send_plain" ? {} : toolRetries),
      }).catch((error) => `Error: ${error.message}`);
      messages.push({ role: "tool", tool_call_id: id, content });
    }
  }
}

/** What a stream got of an attempt that is made again stays in it, so each begins with a mark. */
async function speak(messages) {
  await DBOS.writeStream("text", { reset: true });
  return askModel(messages, (text) => DBOS.writeStream("text", { text }));
}

DBOS.setConfig({
  name: "chaos-peer",
  systemDatabaseUrl: process.env.DATABASE_URL,
  // The program does not change, whatever its files' dates are.
  applicationVersion: "1",
  logLevel: "warn",
});
const workflow = DBOS.registerWorkflow(agent, { name: "agent" });
await DBOS.launch();

serve({
  async accept(id, message) {
    await DBOS.startWorkflow(workflow, { workflowID: id })(message);
  },
  async look(id) {
    const seen = await DBOS.getWorkflowStatus(id);
    if (!seen) return undefined;
    if (seen.status === "SUCCESS") return { status: "done", answer: seen.output };
    if (seen.status === "PENDING" || seen.status === "ENQUEUED") return { status: "running" };
    return { status: "failed", error: `${seen.status} ${seen.error?.message ?? ""}` };
  },
  async *stream(id, after) {
    let cursor = after;
    for await (const line of DBOS.readStream(id, "text", { offset: after })) {
      cursor++;
      yield { cursor, ...line };
    }
    yield { end: true };
  },
});
