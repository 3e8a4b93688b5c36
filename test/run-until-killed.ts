import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import type { Place } from "./databases.ts";
import { postEffect } from "./post-effect.ts";
import { startTestRuns } from "./runs.ts";

// Starts one run, says its id, and works on it until somebody kills this process. `delegated`: the work is done by a child.
const { place, outside, delegated } = JSON.parse(process.argv[2]!) as {
  place: Place;
  outside: string;
  delegated?: boolean;
};
const database = await openDatabase(place);
await migrate(database);

const service = await startTestRuns({
  database,
  tools: [postEffect(outside)],
  ...(delegated ? { agent: { agents: ["worker"] }, agents: [{ id: "worker", agents: [] }] } : {}),
  script: [
    ...(delegated ? [[{ call: "delegate", arguments: { agent: "worker", task: "go" } }]] : []),
    [{ call: "add_task", arguments: { title: "once" } }],
    [
      {
        gate: async () => {
          void fetch(`${outside}/step-2`).catch(() => {});
        },
      },
      { text: "half an ans" },
      { gate: () => new Promise((resolve) => setTimeout(resolve, 200)) },
      { call: "post_effect", arguments: {} },
    ],
  ],
});
const started = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
console.log(started.runId);
setInterval(() => {}, 1000);
