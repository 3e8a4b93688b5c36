import { auto } from "./strategies/auto.ts";
import { chat } from "./strategies/chat.ts";
import { dryRun } from "./strategies/dry-run.ts";
import { jsonActions } from "./strategies/json-actions.ts";
import { planExecute } from "./strategies/plan-execute.ts";
import { react } from "./strategies/react.ts";
import { tools } from "./strategies/tools.ts";
import type { Strategy } from "./turn.ts";

/** Every way an agent can work, by the name that its file says. */
export const strategies: Readonly<Record<string, Strategy>> = {
  auto,
  chat,
  "dry-run": dryRun,
  "json-actions": jsonActions,
  "plan-execute": planExecute,
  react,
  tools,
};
