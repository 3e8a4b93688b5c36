import { describeConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { redactedSetting } from "../config/redacted-setting.ts";
import type { Services } from "../http/server/services.ts";
import { messageOf } from "../protocol/base/errors.ts";
import type { Log } from "../protocol/base/log.ts";
import { startRollUps } from "../store/metering/usage-rollups.ts";
import { createAuditLog } from "../store/metering/audit-log.ts";
import { readModelHealth, readUsage } from "../store/metering/usage.ts";
import type { Store } from "./store.ts";

export type OpenOverview = { readonly services: Pick<Services, "overview">; readonly close: () => Promise<void> };

/** What administrators look at, beside the runs. */
export function openOverview(
  config: Config,
  { store: { database }, log }: { readonly store: Pick<Store, "database">; readonly log: Log },
): OpenOverview {
  const audit = createAuditLog(database.query, log);
  const overview: Services["overview"] = {
    usage: (question) => readUsage(database.listing.query, question),
    modelHealth: () => readModelHealth(database.listing.query),
    settings: () =>
      describeConfig(config).map(({ path, value, source }) => ({ path, value: redactedSetting(path, value), source })),
    audit,
  };
  const stopRollUps = startRollUps(database.maintenance, (error) =>
    log.warn({ error: messageOf(error) }, "use was not counted"),
  );
  return { services: { overview }, close: () => Promise.all([stopRollUps(), audit.close()]).then(() => undefined) };
}
