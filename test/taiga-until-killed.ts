import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import type { Place } from "./databases.ts";
import { deletingModel, minutes, planningModel, serveTaigaAgent } from "./taiga-agent.ts";

// Has the minutes worked on over HTTP, or deletes a story that it allows itself; somebody may kill it before it ends.
const { place, url, token, deletes } = JSON.parse(process.argv[2]!) as {
  place: Place;
  url: string;
  token: string;
  deletes?: number;
};
const database = await openDatabase(place);
await migrate(database);
const agent = await serveTaigaAgent(database, {
  url,
  script: deletes === undefined ? planningModel : deletingModel(deletes),
});
const response = await fetch(`${agent.url}/agent/run`, {
  method: "POST",
  headers: { "content-type": "application/json", "x-taiga-token": token, "idempotency-key": "minutes" },
  body: JSON.stringify({ project_ref: "acme-app", sprint_ref: "Sprint 6", prompt: minutes }),
});
const text = await response.text();
if (deletes === undefined) console.log(text);
else {
  const { run_id: run } = JSON.parse(text) as { run_id: string };
  const [question] = await agent.approvals.questions(agent.caller, run);
  await agent.approvals.decide(agent.caller, run, { questionId: question!.id, input: { decision: "allow" } });
  while ((await agent.runs.get(agent.caller, run)).endedAt === null)
    await new Promise((resolve) => setTimeout(resolve, 100));
}
await agent.close();
await database.close();
