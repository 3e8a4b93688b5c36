import { appendFileSync } from "node:fs";
import { z } from "zod";
import type { Script } from "../src/models/demo/scripted.ts";
import { jsonActions } from "../src/run/strategies/json-actions.ts";
import type { Database } from "../src/store/driver/database.ts";
import { migrate } from "../src/store/schema/migrate.ts";
import { openDatabase } from "../src/store/driver/open.ts";
import { defineTool } from "../src/tools/core/define-tool.ts";
import type { Place } from "./databases.ts";
import { orchestratorTeam, written } from "./json-actions.ts";
import { startTestRuns, type TestRuns } from "./runs.ts";

/** A node with the orchestrator's team, whose `write_file` adds a line to a file for each time that it was really done. */
export async function startTeamRuns(database: Database, file: string, script: Script): Promise<TestRuns> {
  const { orchestrator, others } = await orchestratorTeam("script");
  const writeFile = defineTool({
    name: "write_file",
    description: "Write to file",
    input: z.object({ path: z.string(), content: z.string() }),
    effect: "write",
    execute(input) {
      appendFileSync(file, `${input.path}\n`);
      return `OK: Wrote ${input.content.length} chars to ${input.path}`;
    },
  });
  return startTestRuns({
    database,
    agent: orchestrator,
    agents: others,
    tools: [writeFile],
    strategies: { "json-actions": jsonActions },
    script,
  });
}

if (import.meta.main) {
  // Works until the coder has written, and dies when it is asked what to do next.
  const { place, file } = JSON.parse(process.argv[2]!) as { place: Place; file: string };
  const database = await openDatabase(place);
  await migrate(database);
  const answers = [
    written({ action: "delegate", target_agent: "coder", args: { task: "go" } }),
    written({ action: "use_tool", tool: "write_file", args: { path: "fib.py", content: "x" } }),
  ];
  const { runs, caller } = await startTeamRuns(database, file, (_, count) => {
    const answer = answers[count];
    if (answer === undefined) process.kill(process.pid, "SIGKILL");
    return answer ?? "";
  });
  await runs.start(caller, { agent: "orchestrator", message: { content: "Write fib" } });
  setInterval(() => {}, 1000);
}
