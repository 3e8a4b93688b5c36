import type { Item } from "../../protocol/threads/items.ts";
import type { ActionNames } from "./json-actions-parse.ts";
import { actionSteps } from "./json-actions-steps.ts";

/** One step of a run of JSON actions, as clients are shown it. */
export type ActionEvent = {
  readonly step: number;
  readonly agent: string;
  readonly action: string;
  readonly tool: string | null;
  readonly target_agent: string | null;
  readonly thought: string;
};

/** Lists the decisions of a run, from its items in order. The known names help to read what stands in a wrong place. */
export function actionTrace(items: readonly Item[], known: ActionNames = {}): ActionEvent[] {
  return actionSteps(items, known)
    .filter(({ unclear }) => unclear === undefined)
    .map(({ number, agent, action }) => ({
      step: number,
      agent,
      action: action.action,
      tool: action.tool,
      target_agent: action.targetAgent,
      thought: action.thought,
    }));
}
