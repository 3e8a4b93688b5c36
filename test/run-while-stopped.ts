import { openDatabase } from "../src/store/driver/open.ts";
import type { Place } from "./databases.ts";
import { startTestRuns } from "./runs.ts";

// Starts one run whose model takes its time, says its id, and works until somebody kills this process.
const database = await openDatabase(JSON.parse(process.argv[2]!) as Place);
const service = await startTestRuns({ database, script: [[{ waitMs: 3000 }, { text: "done" }]] });
const { runId } = await service.runs.start(service.caller, { agent: "assistant", message: { content: "go" } });
console.log(runId);
setInterval(() => {}, 1000);
