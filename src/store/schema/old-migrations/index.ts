import { begin } from "./0001-begin.ts";
import { childRuns } from "./0002-child-runs.ts";
import { taskCalls } from "./0003-task-calls.ts";
import { feedback } from "./0004-feedback.ts";
import { runSecrets } from "./0005-run-secrets.ts";
import { reservedOnce } from "./0006-reserved-once.ts";
import { mcpCredentials } from "./0007-mcp-credentials.ts";
import { accounts } from "./0008-accounts.ts";
import { removedThreads } from "./0009-removed-threads.ts";
import { sessions } from "./0010-sessions.ts";
import { uploads } from "./0011-uploads.ts";
import { audit } from "./0012-audit.ts";
import { definitions } from "./0013-definitions.ts";
import { budgetsRetentionErasures } from "./0014-budgets-retention-erasures.ts";
import { knowledge } from "./0015-knowledge.ts";
import { ragChunks } from "./0016-rag-chunks.ts";
import { untrustedItems } from "./0017-untrusted-items.ts";
import { rooms } from "./0018-rooms.ts";
import { grantCollections } from "./0019-grant-collections.ts";
import { taskChanges } from "./0020-task-changes.ts";
import { runTakes } from "./0021-run-takes.ts";
import { runRetries } from "./0022-run-retries.ts";
import { claimJobs } from "./0023-claim-jobs.ts";
import { resumedRuns } from "./0024-resumed-runs.ts";
import { unsettledReservations } from "./0025-unsettled-reservations.ts";
import { outsideText } from "./0026-outside-text.ts";
import { openLinks } from "./0027-open-links.ts";
import { nameLooks } from "./0028-name-looks.ts";
import { keyScopes } from "./0029-key-scopes.ts";
import type { Migration } from "../migration.ts";

/** What the baseline stands for, in order: for databases that are older. No more are added here. */
export const oldMigrations: readonly Migration[] = [
  begin,
  childRuns,
  taskCalls,
  feedback,
  runSecrets,
  reservedOnce,
  mcpCredentials,
  accounts,
  removedThreads,
  sessions,
  uploads,
  audit,
  definitions,
  budgetsRetentionErasures,
  knowledge,
  ragChunks,
  untrustedItems,
  rooms,
  grantCollections,
  taskChanges,
  runTakes,
  runRetries,
  claimJobs,
  resumedRuns,
  unsettledReservations,
  outsideText,
  openLinks,
  nameLooks,
  keyScopes,
];
