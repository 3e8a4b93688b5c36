import { readFileSync } from "node:fs";
import type { Baseline } from "./migration.ts";

/** In the order in which they need one another: a file for each subject. */
const subjects = ["people", "threads", "runs", "items", "rooms", "tasks", "knowledge", "spending", "installation"];

/** The tables as the first 29 migrations made them. What comes later is a migration: this stays as it is. */
export const baseline: Omit<Baseline, "old"> = {
  names: [
    "0001-begin",
    "0002-child-runs",
    "0003-task-calls",
    "0004-feedback",
    "0005-run-secrets",
    "0006-reserved-once",
    "0007-mcp-credentials",
    "0008-accounts",
    "0009-removed-threads",
    "0010-sessions",
    "0011-uploads",
    "0012-audit",
    "0013-definitions",
    "0014-budgets-retention-erasures",
    "0015-knowledge",
    "0016-rag-chunks",
    "0017-untrusted-items",
    "0018-rooms",
    "0019-grant-collections",
    "0020-task-changes",
    "0021-run-takes",
    "0022-run-retries",
    "0023-claim-jobs",
    "0024-resumed-runs",
    "0025-unsettled-reservations",
    "0026-outside-text",
    "0027-open-links",
    "0028-name-looks",
    "0029-key-scopes",
  ],
  script: () =>
    subjects.map((subject) => readFileSync(new URL(`baseline/${subject}.sql`, import.meta.url), "utf8")).join("\n"),
};
