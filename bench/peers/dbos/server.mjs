// The least that is durable with DBOS: a workflow of one step, which asks the model and hands on its text as it comes.
import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { DBOS } from "@dbos-inc/dbos-sdk";
import { serveRuns } from "./serve-runs.mjs";

const agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: 1024 });
const listeners = new Map();

function ask(model, content, say) {
  const messages = [
    { role: "system", content: "You are a careful assistant." },
    { role: "user", content },
  ];
  const body = JSON.stringify({ model, stream: true, messages });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const call = request(`${process.env.MODEL_URL}/chat/completions`, { method: "POST", agent, headers }, (answer) => {
      let rest = "";
      let text = "";
      answer.setEncoding("utf8").on("data", (read) => {
        const events = (rest + read).split("\n\n");
        rest = events.pop();
        for (const event of events) {
          if (event === "data: [DONE]") continue;
          const piece = JSON.parse(event.slice(6)).choices[0]?.delta?.content;
          if (!piece) continue;
          text += piece;
          say?.(piece);
        }
      });
      answer.on("end", () => resolve(text));
      answer.on("error", reject);
    });
    call.on("error", reject);
    call.end(body);
  });
}

const run = DBOS.registerWorkflow(
  ({ model, content }) => {
    const say = listeners.get(DBOS.workflowID);
    return DBOS.runStep(() => ask(model, content, say), { name: "model" });
  },
  { name: "run" },
);

DBOS.setConfig({ name: "bench", systemDatabaseUrl: process.env.DATABASE_URL, logLevel: "error" });
await DBOS.launch();

serveRuns(async (input, say) => {
  const workflowID = randomUUID();
  listeners.set(workflowID, say);
  try {
    const handle = await DBOS.startWorkflow(run, { workflowID })(input);
    await handle.getResult();
  } finally {
    listeners.delete(workflowID);
  }
});
