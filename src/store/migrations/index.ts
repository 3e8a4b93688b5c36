import { begin } from "./0001-begin.ts";
import { childRuns } from "./0002-child-runs.ts";
import { taskCalls } from "./0003-task-calls.ts";
import { feedback } from "./0004-feedback.ts";
import { runSecrets } from "./0005-run-secrets.ts";
import { reservedOnce } from "./0006-reserved-once.ts";
import { mcpCredentials } from "./0007-mcp-credentials.ts";
import type { Migration } from "./migration.ts";

/** Every migration, in order. */
export const migrations: readonly Migration[] = [
  begin,
  childRuns,
  taskCalls,
  feedback,
  runSecrets,
  reservedOnce,
  mcpCredentials,
];
