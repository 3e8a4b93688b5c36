import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../../protocol/base/errors.ts";
import type { RunDefinition } from "../../protocol/threads/runs.ts";
import { defineRun } from "./define-run.ts";
import type { Runtime } from "../contract/runtime.ts";
import type { TakenRun } from "../contract/taken-run.ts";

const kept = ["agent", "model", "tools", "prompts", "team"] as const satisfies readonly (keyof RunDefinition)[];

/** A run that is taken up again goes on with what it has kept; says so where the files or models are others by now. */
export function noteChanges(runtime: Runtime, { runId, caller, definition }: TakenRun): void {
  const changed = changesSince(runtime, caller, definition);
  if (changed.length === 0) return;
  runtime.log.info(
    { runId, changed },
    "the definitions of a run have changed; it continues with those it started with",
  );
}

function changesSince(runtime: Runtime, caller: TakenRun["caller"], definition: RunDefinition): readonly string[] {
  const { agent, options } = definition;
  if (!runtime.agents.has(agent.id)) return agent.id.startsWith("tool:") ? [] : ["agent"];
  try {
    const now = defineRun(runtime, caller, { agent: runtime.agents.get(agent.id), options });
    return kept.filter((part) => !isDeepStrictEqual(now[part], definition[part]));
  } catch (error) {
    return [messageOf(error)];
  }
}
