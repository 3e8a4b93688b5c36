import { auto } from "./auto.ts";
import { chat } from "./chat.ts";
import { dryRun } from "./dry-run.ts";
import { jsonActions } from "./json-actions.ts";
import { planExecute } from "./plan-execute.ts";
import { react } from "./react.ts";
import { tools } from "./tools.ts";
import type { Strategy } from "../contract/turn.ts";

/** All strategies, by the name that agent files use. */
export const strategies: Readonly<Record<string, Strategy>> = {
  auto,
  chat,
  "dry-run": dryRun,
  "json-actions": jsonActions,
  "plan-execute": planExecute,
  react,
  tools,
};
