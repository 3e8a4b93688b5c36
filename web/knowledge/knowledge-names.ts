import { t } from "@lingui/core/macro";

export const stateNames = { queued: t`queued`, working: t`processing`, ready: t`ready`, failed: t`failed` };

export const retrievalNames = { lexical: t`words`, vector: t`meaning`, hybrid: t`both` };
