import type { Migration } from "../migration.ts";
import { runQueue } from "./0030-run-queue.ts";
import { growth } from "./0031-growth.ts";
import { retention } from "./0032-retention.ts";
import { usageHours } from "./0033-usage-hours.ts";
import { repeatedRequests } from "./0034-repeated-requests.ts";
import { threadMetadata } from "./0035-thread-metadata.ts";
import { personLists } from "./0036-person-lists.ts";
import { threadSettings } from "./0037-thread-settings.ts";
import { settingsTell } from "./0039-settings-tell.ts";
import { knowledgeTells } from "./0040-knowledge-tells.ts";

/** Every migration since the baseline, in order; the first is 0030. */
export const migrations: readonly Migration[] = [
  runQueue,
  growth,
  retention,
  usageHours,
  repeatedRequests,
  threadMetadata,
  personLists,
  threadSettings,
  settingsTell,
  knowledgeTells,
];
