import { migrate } from "../src/store/migrate.ts";
import { openDatabase } from "../src/store/open.ts";
import type { Place } from "./databases.ts";
import { minutes, planningModel, serveTaigaAgent } from "./taiga-agent.ts";

// Has the minutes worked on over HTTP, and tells the answer; somebody may kill it before.
const { place, url, token } = JSON.parse(process.argv[2]!) as { place: Place; url: string; token: string };
const database = await openDatabase(place);
await migrate(database);
const agent = await serveTaigaAgent(database, { url, script: planningModel });
const response = await fetch(`${agent.url}/agent/run`, {
  method: "POST",
  headers: { "content-type": "application/json", "x-taiga-token": token, "idempotency-key": "minutes" },
  body: JSON.stringify({ project_ref: "acme-app", sprint_ref: "Sprint 6", prompt: minutes }),
});
console.log(await response.text());
await agent.close();
await database.close();
