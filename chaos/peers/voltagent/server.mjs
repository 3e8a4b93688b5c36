import { createWorkflowChain, Memory } from "@voltagent/core";
import { PostgreSQLMemoryAdapter } from "@voltagent/postgres";
import { z } from "zod";
import { openAccepted } from "./accepted.mjs";
import { askModel } from "./model.mjs";
import { serve } from "./serve.mjs";
import { callToolPatiently } from "./tools.mjs";

// As its documentation tells: a workflow whose running checkpoint is kept in PostgreSQL after each step, and active runs restarted at
// start. A loop counts as one step, so each call of the model or of a tool is a step of a long chain: what is done is not done again.
const maxSteps = 40;
const accepted = await openAccepted();
const memory = new Memory({ storage: new PostgreSQLMemoryAdapter({ connection: process.env.DATABASE_URL }) });

let chain = createWorkflowChain({
  id: "agent",
  name: "agent",
  input: z.object({ message: z.string() }),
  result: z.any(),
  memory,
  checkpointInterval: 1,
  // Only the model throws: half a minute of tries.
  retryConfig: { attempts: 30, delayMs: 1000 },
}).andThen({
  id: "begin",
  execute: async ({ data }) => ({ messages: [{ role: "user", content: data.message }] }),
});
for (let at = 0; at < maxSteps; at++)
  chain = chain.andThen({
    id: `call-${at}`,
    async execute({ data, state, bail }) {
      const { messages, answer } = await oneCall(data, `${state.executionId}-${at}`);
      return answer === undefined ? { messages } : bail({ answer });
    },
  });
const workflow = chain.toWorkflow();

/** The next thing that is open: a call that the model asked for, or the model itself. */
async function oneCall({ messages }, key) {
  const last = messages.findLast(({ role }) => role === "assistant");
  const answered = new Set(messages.map((message) => message.tool_call_id));
  const open = last?.tool_calls?.find(({ id }) => !answered.has(id));
  if (open) {
    const { effect } = JSON.parse(open.function.arguments);
    const content = await callToolPatiently(open.function.name, effect, key).catch(
      (error) => `Error: ${error.message}`,
    );
    return { messages: [...messages, { role: "tool", tool_call_id: open.id, content }] };
  }
  const said = await askModel(messages);
  return said.tool_calls?.length
    ? { messages: [...messages, said] }
    : { messages: [...messages, said], answer: said.content };
}

const running = await memory.queryWorkflowRuns({ workflowId: "agent", status: "running" });
const begun = new Set(running.map(({ id }) => id));
for (const { id } of running) workflow.restart(id).catch((error) => console.error(id, error));
// Accepted, and killed before its run began.
for (const { id, message } of await accepted.unfinished())
  if (!begun.has(id) && !(await memory.getWorkflowState(id))) await start(id, message);

function start(id, message) {
  return workflow.startAsync({ message }, { executionId: id });
}

serve({
  async accept(id, message) {
    if (await accepted.accept(id, message)) await start(id, message);
  },
  async look(id) {
    const state = await memory.getWorkflowState(id);
    if (!state) return (await accepted.look(id)) && { status: "running" };
    if (state.status === "completed") return { status: "done", answer: state.output?.answer };
    if (state.status === "running") return { status: "running" };
    return { status: "failed", error: `${state.status} ${state.metadata?.errorMessage ?? ""}` };
  },
});
