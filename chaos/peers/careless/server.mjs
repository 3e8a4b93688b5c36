import { askModel } from "./model.mjs";
import { serve } from "./serve.mjs";
import { callTool } from "./tools.mjs";

// Keeps nothing, looks at no id, tries everything again: what the driver must find fault with.
const runs = new Map();

async function insist(act) {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (tries === 3) throw error;
    }
  }
}

async function work(message) {
  const messages = [{ role: "user", content: message }];
  for (;;) {
    const answer = await insist(() => askModel(messages));
    messages.push(answer);
    if (!answer.tool_calls?.length) return answer.content;
    for (const { id, function: call } of answer.tool_calls) {
      const { effect } = JSON.parse(call.arguments);
      const content = await insist(() => callTool(call.name, effect));
      messages.push({ role: "tool", tool_call_id: id, content });
    }
  }
}

serve({
  async accept(id, message) {
    runs.set(id, { status: "running" });
    work(message).then(
      (answer) => runs.set(id, { status: "done", answer }),
      (error) => runs.set(id, { status: "failed", error: String(error) }),
    );
  },
  look: async (id) => runs.get(id),
});
